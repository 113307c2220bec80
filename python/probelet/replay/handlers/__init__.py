"""Recordings of the kubelet's handlers: a scripted server on real sockets, and the production handlers against it."""
