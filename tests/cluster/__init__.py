"""Real clusters of one node, in which a real kubelet judges what probelet does beside it."""
