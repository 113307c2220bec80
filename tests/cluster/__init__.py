"""Real clusters of one node or three, in which a real kubelet judges what probelet does beside it."""
