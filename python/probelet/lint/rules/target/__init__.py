"""Rules about where a probe connects, and what it sends."""
