"""Tests of ``probelet.kube.lease``."""
