"""Records what the kubelet's own probe handlers (Go) answer to scripted servers."""
