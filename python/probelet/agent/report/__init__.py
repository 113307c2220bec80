"""Writes conditions and events to the API server."""
