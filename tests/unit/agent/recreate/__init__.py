"""Tests of the executor: a whole agent with requests, on a scripted runtime and an API server."""
