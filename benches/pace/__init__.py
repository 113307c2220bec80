"""Whether ordinary probes are later beside probes below a second: ``python -m benches.pace``."""
