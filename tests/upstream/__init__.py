"""Kubernetes' own end-to-end tests of nodes, played on the cluster of the tests: native, taken over, and with enhanced
liveness. docs/upstream-e2e.md has the results."""
