"""The sides: who makes the probes of the pods of upstream's tests."""

from enum import StrEnum
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.installed import Installed
from tests.cluster.served.prober import ServedProber

OBJECTS = Path(__file__).with_name("sides")
SETTINGS = {
    "enabled": "true",
    "rate_tokensPerMinute": "600",
    "rate_burst": "20",
    # All pods are on one node, and many of them fail because a test wants that.
    "nodeBreaker_minPods": "1000",
}
"""Nothing holds a restart but its own probe. The keys are those of ``Installed.settings``."""


class Side(StrEnum):
    """The names of runs, of their files, and of the columns of the page."""

    NATIVE = "native"
    TAKEN = "taken-over"
    ENHANCED = "enhanced"
    SERVED = "served"

    @property
    def shown(self) -> str:
        return {"taken-over": "taken over", "enhanced": "enhanced liveness"}.get(self.value, self.value)

    def cluster(self, out: Path) -> Cluster:
        """The cluster of a run into ``out``, before its start. Raises CalledProcessError if no kubelet can be built."""
        if self is Side.SERVED:
            return ServedProber(out).cluster()
        return Cluster()

    def prepare(self, cluster: Cluster, out: Path) -> None:
        """Start what this side has beside the kubelet. Raises RuntimeError if it does not become ready."""
        if self is Side.SERVED:
            ServedProber(out).start(cluster)
        if self not in (Side.TAKEN, Side.ENHANCED):
            return
        installed = Installed(cluster)
        installed.install()
        cluster.kubectl("apply", "-f", OBJECTS / "taken-over.yaml")
        if self is Side.ENHANCED:
            installed.enhance()
            installed.settings(**SETTINGS)
            cluster.kubectl("apply", "-f", OBJECTS / "enhanced.yaml")
