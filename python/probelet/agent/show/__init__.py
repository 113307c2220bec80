"""What people get: the status document, the metrics, and commands."""
