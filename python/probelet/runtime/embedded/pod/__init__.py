"""Sandboxes and containers: their states, addresses, logs and exec runs."""
