"""Tests of ``probelet.beside.takeover``."""
