"""What differs between two sides, and which line of docs/kubelet-parity.md says so."""
