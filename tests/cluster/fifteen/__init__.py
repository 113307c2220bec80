"""Fifteen pods and a Deployment twice in one cluster: probed by the kubelet, and taken over by probelet."""
