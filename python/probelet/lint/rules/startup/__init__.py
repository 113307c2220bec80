"""Rules about the time that a container has for its start."""
