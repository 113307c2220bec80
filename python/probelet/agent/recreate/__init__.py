"""Carries ContainerRecreateRequests for this node out: the executor.

``guard.recreate`` decides; here are the watch, the writes, the notes on disk and the kills. A request reaches a pod
only if its namespace, name and UID are those of a pod of this node, because users who may create requests write their
labels too. The hook that runs is the one that the kubelet noted beside the container, never the request's.
"""
