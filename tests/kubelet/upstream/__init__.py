"""The kubelet's own test cases as tests of ours; docs/dev/upstream-cases.md says which row is where."""
