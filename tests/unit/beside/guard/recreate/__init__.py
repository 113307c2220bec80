"""Tests of requests: their admission, their management and their execution, as pure functions."""
