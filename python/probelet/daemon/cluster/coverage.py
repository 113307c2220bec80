"""Asks the API server for what ``probelet status --cluster`` shows."""

import asyncio
import time
from pathlib import Path

from probelet.agent.show.coverage import ClusterDocument, agent_lease, cluster_document
from probelet.beside.takeover.taken_pod import taken_pod
from probelet.errors import DaemonError
from probelet.kube.connection import Connection
from probelet.kube.error import KubeConfigError, KubeError
from probelet.kube.kinds import LEASES, PODS


def coverage(kubeconfig: Path | None, context: str, namespace: str) -> ClusterDocument:
    """The document of the cluster. Raises DaemonError, one line, if it cannot be asked."""
    try:
        return asyncio.run(_coverage(kubeconfig, context, namespace))
    except (KubeConfigError, KubeError) as error:
        raise DaemonError(str(error)) from error
    except ValueError as error:
        raise DaemonError(f"the API server's answer cannot be read: {error}") from error


async def _coverage(kubeconfig: Path | None, context: str, namespace: str) -> ClusterDocument:
    async with Connection.found(kubeconfig, context) as connection:
        leases = await connection.list_as(LEASES, agent_lease, namespace)
        # No selector finds an annotation, and the label may have gone since the pod was created.
        pods = await connection.list_as(PODS, taken_pod)
    return cluster_document(pods.items, leases.items, round(time.time() * 1000))
