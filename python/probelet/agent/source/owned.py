"""Which sandboxes of the runtime are the agent's to look at."""

from collections.abc import Callable, Container

from probelet.runtime.seen import labels


def owned(pods: Container[str]) -> Callable[[labels.Sandbox], bool]:
    """Returns what says whether a sandbox counts: its pod is one of ``pods``, and no ``probelet run`` here made it.

    A kubelet's sandboxes have no label that says which kubelet made them; the UID comes from the API server.
    """
    return lambda sandbox: labels.NODE not in sandbox.labels and labels.pod_uid(sandbox) in pods
