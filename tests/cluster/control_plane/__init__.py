"""The programs of Kubernetes of a cluster, and a client of its API."""
