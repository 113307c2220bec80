"""Recordings of the kubelet's handlers: plays them with a scripted server on real sockets and the real handlers."""
