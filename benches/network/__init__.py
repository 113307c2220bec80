"""What a probe from inside its pod's network costs: ``python -m benches.network``."""
