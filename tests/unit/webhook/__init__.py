"""Tests of ``probelet.webhook``."""
