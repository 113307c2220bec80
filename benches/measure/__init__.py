"""Runs one engine against one target and takes its figures."""
