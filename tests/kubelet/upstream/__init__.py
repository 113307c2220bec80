"""The kubelet's own test cases as tests of ours; docs/dev/upstream-cases.md names the test of each row."""
