"""Tests of ``probelet.kube.access``."""
