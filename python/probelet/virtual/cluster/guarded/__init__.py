"""Enhanced liveness in a virtual cluster: a failed liveness probe restarts nothing, ``probelet.beside.guard`` decides.

Law: every decision is that of ``guard.restart.guard.Guard``, the machine of the live controller. This folder gives it
the cluster's objects, and carries its requests out as a node does: the container is stopped within its grace, the
kubelet starts it again, and the request is completed once the pod is ready.
"""
