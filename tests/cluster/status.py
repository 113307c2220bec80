"""``probelet status --cluster`` of a cluster."""

import subprocess
import sys

from tests.cluster.cluster import Cluster

LEASE_SECONDS = 90.0
"""A Lease holds for 40 s, and the clock of its renewal is the agent's."""


def coverage(cluster: Cluster) -> tuple[int, str]:
    """Its exit code and words."""
    verb = ["status", "--cluster", f"--kubeconfig={cluster.control.kubeconfig}"]
    command = [*cluster.space.inside, sys.executable, "-m", "probelet", *verb]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr
