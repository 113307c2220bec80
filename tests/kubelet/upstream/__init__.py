"""The kubelet's own test cases as tests of ours; docs/upstream-cases.md says which row is where."""
