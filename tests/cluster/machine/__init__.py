"""The machine of a cluster: namespaces of its own for processes, mounts and network, and what runs in them."""
