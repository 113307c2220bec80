"""The annotations of a pod, as an agent takes them."""
