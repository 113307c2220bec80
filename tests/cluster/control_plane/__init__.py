"""The programs of Kubernetes in a cluster of one node, and a client of its API."""
