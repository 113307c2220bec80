"""A stand-in: a process in the place of a container whose program this machine does not have.

It answers the probes of its container and does nothing else: HTTP on any path (200), TCP, the gRPC health service
(SERVING), each with TLS where a probe asks for it, and the commands of exec probes, none of which it runs.

``plan`` is what it serves and how it behaves, ``pod`` puts it into a pod in the place of containers. ``__main__`` is
the program, ``behaving`` its life, ``answers`` its sockets, ``http2`` what it says to a client of HTTP/2, ``commands``
how it answers an exec probe.

It listens at the address of its pod alone, which is the pod's own on this machine.
"""
