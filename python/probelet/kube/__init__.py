"""The API server of a Kubernetes cluster: one connection, a mirror of objects, events, leases, server-side apply.

The package knows no rule about pods, no engine and no container runtime. Objects are dicts as the API server writes
them; ``Reflector`` makes its caller's own types of them at once, because pods as dicts need ten times the memory.

``lightkube`` reads the kubeconfig and configures the HTTP client (certificates, credentials). The requests are made
here, with that client: lightkube's own watch loses deletions after a 410 and has no bookmarks, and its delete has no
preconditions.
"""
