"""Rules about probes that run a command."""
