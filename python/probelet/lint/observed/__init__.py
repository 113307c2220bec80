"""Observations of containers that run: what ``--observed`` reads, and which workload each container belongs to."""
