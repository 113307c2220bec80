"""How long a test waits for what has to come."""

PATIENCE_SECONDS = 200.0
"""Enough for a very busy machine. Only a wait for something that never comes lasts so long; the timeout of pytest in
pyproject.toml is longer."""
