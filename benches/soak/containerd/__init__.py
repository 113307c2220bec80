"""Real containers under random kills of probelet, of containerd and of containers: ``make soak-containerd``."""
