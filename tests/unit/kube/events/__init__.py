"""Tests of ``probelet.kube.events``."""
