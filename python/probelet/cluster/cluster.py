"""A cluster in virtual time."""

from probelet.cluster.behaviour import Behaviour, Spread
from probelet.cluster.fault import Fault
from probelet.cluster.record import Event, Exited, History, Kill, Requests
from probelet.testing.manifests import Manifests

TIMELINE_MAX = 60


class Cluster:
    """Workloads under the production prober, policy and back-off on each of some nodes, in virtual time.

    Manifests are applied as people write them. A container without a behaviour is up at once and answers in 5 ms. Time
    goes by in ``run``; everything else happens at the present moment, or at the moment that a fault names. A workload
    is called by its name, or by ``namespace/name``, by the latter only where two have the same name; a container is
    ``workload/container``. Durations are written as in Go, such as ``1m30s``.

    Args:
        manifests: a file or a directory, a text in YAML or JSON, an object (``{"kind": "Deployment", ...}``), or a list
            of them. A ``str`` is a text if it has a line break or begins with ``{``, else a path.
        nodes: how many nodes there are, from 1 to 1,000: ``node-0``, ``node-1`` and so on.
        seed: of everything random: spreads, phases of pauses, the jitter of first probes.
        kubelet_version: the release whose rules for probes apply, ``1.34`` to ``1.38``.
        endpoint_delay: how much later a Service's endpoints follow the readiness of a pod.
        attempts: how many attempts are kept of each probe, from 2 to 100,000. All are counted.
        strict: a warning about a manifest, such as an unknown field, is a mistake. False takes such manifests.

    Raises:
        ManifestError: a manifest has a mistake (one line each).
        ClusterError: an argument is impossible.
        InvalidInputError: ``kubelet_version`` is not known.
    """

    def __init__(
        self,
        *manifests: Manifests,
        nodes: int = 1,
        seed: int = 0,
        kubelet_version: str = "1.36",
        endpoint_delay: str = "1s",
        attempts: int = 2_000,
        strict: bool = True,
    ) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        """Time, and how many replicas of the first workloads are ready."""
        raise NotImplementedError

    @property
    def now(self) -> float:
        """Seconds since t = 0."""
        raise NotImplementedError

    @property
    def seed(self) -> int:
        """The seed that plays this cluster again."""
        raise NotImplementedError

    @property
    def workloads(self) -> list[str]:
        """The names of the workloads, in the order in which they were applied; a bare pod is one."""
        raise NotImplementedError

    @property
    def services(self) -> list[str]:
        """The names of the Services, in the order in which they were applied or got traffic."""
        raise NotImplementedError

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes."""
        raise NotImplementedError

    def containers(self, workload: str) -> dict[str, tuple[str, ...]]:
        """The containers of a workload's pods, ``workload/container``, with the types of their probes.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def services_of(self, workload: str) -> list[str]:
        """The Services whose selector matches a workload's pods.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def wanted(self, workload: str) -> int:
        """How many replicas a workload should have now.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def apply(self, *manifests: Manifests) -> None:
        """Apply manifests now, as ``kubectl apply`` does. A workload that was applied before and has another template
        is rolled out; a change of its other fields counts from now on.

        Raises:
            ManifestError: a manifest has a mistake (one line each). Nothing is applied then.
        """
        raise NotImplementedError

    def behave(self, target: str, behaviour: Behaviour | None = None, /, **fields: object) -> None:
        """Say how the containers of ``target`` behave, from now on; ``fields`` are those of ``Behaviour``, and replace
        those of the behaviour that was given, or else of the one that the containers have.

        ``target`` is a container (``web/app``) or a workload, which stands for all its regular containers.

        Raises:
            ClusterError: there is no such container or dependency, or the behaviour is impossible.
        """
        raise NotImplementedError

    def dependency(self, name: str, latency: Spread = "5ms", *, asks: tuple[str, ...] = ()) -> None:
        """Provide a service outside the manifests that containers ask; ``asks`` are dependencies that it asks itself.

        A dependency with the name of a Service is that Service: ``latency`` is added to its own response, and without
        an endpoint it is down.

        Raises:
            ClusterError: the latency is impossible, ``asks`` has an unknown name, or the dependencies ask in a circle.
        """
        raise NotImplementedError

    def traffic(self, service: str, rate: float, *, timeout: str = "1s", slo: str = "500ms") -> None:
        """Offer ``rate`` requests a second to a Service from now on; a workload without a Service gets one of its name.

        Args:
            service: the name of a Service, or of a workload.
            rate: requests a second, from 0 to 1e9.
            timeout: how long a client waits; a request that takes longer is lost.
            slo: a request that takes longer is late.

        Raises:
            ClusterError: there is no such Service or workload, or a value is impossible.
        """
        raise NotImplementedError

    def fault(self, *faults: Fault) -> None:
        """Let faults happen at their time; one whose time is over happens now.

        Raises:
            ClusterError: a fault names something that is not there.
        """
        raise NotImplementedError

    def rollout(self, workload: str, *, at: str = "0s", behaviour: Behaviour | None = None) -> None:
        """Roll out a new version of a workload: the fault ``Rollout``.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def run(self, duration: str) -> None:
        """Let virtual time go by. Ctrl-C (KeyboardInterrupt) ends it between two moments; the cluster can go on.

        Raises:
            ClusterError: the duration cannot be read.
        """
        raise NotImplementedError

    def ready(self, workload: str) -> int:
        """How many pods of a workload are ready now.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def restarts(self, workload: str) -> int:
        """How often containers of a workload's pods were started again, those of pods that are gone too.

        Raises:
            ClusterError: there is no such workload.
        """
        raise NotImplementedError

    def requests(self, service: str) -> Requests:
        """The requests to a Service so far. All zero without ``traffic``.

        Raises:
            ClusterError: there is no such Service or workload.
        """
        raise NotImplementedError

    @property
    def events(self) -> list[Event]:
        """Every event, oldest first, at most ``EVENTS_MAX``."""
        raise NotImplementedError

    @property
    def kills(self) -> list[Kill]:
        """Every verdict of a probe that had a container killed, oldest first."""
        raise NotImplementedError

    @property
    def exits(self) -> list[Exited]:
        """Every end of a container, oldest first."""
        raise NotImplementedError

    @property
    def history(self) -> History:
        """All that has happened so far."""
        raise NotImplementedError

    def timeline(self, last: int = TIMELINE_MAX) -> str:
        """What happened, for the message of an assertion: faults, events, kills, states of pods and endpoints, one line
        each, then the requests and the seed.

        The latest ``last`` lines, oldest first. ``assert cluster.kills == [], cluster.timeline()``
        """
        raise NotImplementedError
