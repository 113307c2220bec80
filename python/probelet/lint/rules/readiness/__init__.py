"""Rules about what a readiness probe asks, and how soon it takes a pod out of service."""
