"""The programs of a cluster, built from published Go modules."""
