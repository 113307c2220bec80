"""Tests of ``probelet.kube`` against an API server in the test's process, on real HTTP, in virtual time."""
