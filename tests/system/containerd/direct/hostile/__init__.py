"""Containers whose file systems hang or mean harm."""
