"""Tests of ``probelet.admission``."""
