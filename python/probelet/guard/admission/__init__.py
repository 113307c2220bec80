"""What becomes of a pod at its creation."""
