"""Licences and advisories of every package in the two lock files, without a network."""
