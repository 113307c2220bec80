"""Rules about what a liveness probe asks, and how soon it kills."""
