"""Tests of ``probelet.takeover``."""
