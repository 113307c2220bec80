"""Leases: the sign of life of a process, and the election of one leader among several."""
