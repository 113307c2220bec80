"""Logs of containers on disk: their records, their files and rotated parts, and the runs whose logs are kept."""
