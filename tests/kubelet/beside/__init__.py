"""The real kubelet and probelet side by side: each on a containerd of its own, with the same static pods, at once."""
