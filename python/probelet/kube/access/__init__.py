"""How to reach an API server, and with which credentials: kubeconfig files, service accounts, tokens, exec plugins."""
