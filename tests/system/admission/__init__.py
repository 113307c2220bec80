"""The webhook and the policy against a real kube-apiserver."""
