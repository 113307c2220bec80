"""The probes of the pods of some manifests, each with its bounds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from probelet.config.gate import DEFAULT_VERSION, Gates
from probelet.lab.explain.bounds import Bounds, Timing, bounds
from probelet.lab.explain.crash_loop import CrashLoop, crash_loop
from probelet.lab.explain.span import Span
from probelet.policy.rules.restart import restart_spec
from probelet.spec.annotation.hold_kills import HoldChoice, hold_choice
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe, ProbeType
from probelet.spec.read.load import Manifest

GRACE_SECONDS_MIN = 2
"""The shortest grace of a kill (kubelet kuberuntime_container.go:minimumGracePeriodInSeconds, 1.36)."""
GRACE_SECONDS_DEFAULT = 30

ORDER: Final[tuple[ProbeType, ...]] = ("startup", "liveness", "readiness")


@dataclass(frozen=True)
class Explained:
    """One probe of a container, and what its fields amount to."""

    object: str
    """``Kind/namespace/name`` of the manifest's object."""
    container: str
    is_sidecar: bool
    type: ProbeType
    probe: Probe
    """Defaulted."""
    bounds: Bounds
    grace_seconds: int
    """From SIGTERM to SIGKILL where this probe kills."""
    waits_for_startup: bool
    kills_unstarted: bool
    """Whether this is the probe that kills a container that never succeeds."""
    crash_loop: CrashLoop | None
    """Of a container that never succeeds; None if no probe kills it, or if it is not started again."""
    has_post_start: bool
    hold_kills: HoldChoice = "off"
    """Which incidents the kills of its pod wait for, by annotation."""

    @property
    def promised_seconds(self) -> int:
        """``failureThreshold`` x ``periodSeconds``, which the documentation gives as the start-up budget."""
        return Timing.of(self.probe).patience * self.probe.period_seconds

    @property
    def key(self) -> tuple[str, str, ProbeType]:
        """The key that it shares with the probe of another version of the manifest."""
        return self.object, self.container, self.type


def explain(manifests: Iterable[Manifest], release: str = DEFAULT_VERSION) -> list[Explained]:
    """Every probe in the order of the manifests; of a container in the order startup, liveness, readiness."""
    gates = Gates(release)
    return [found for manifest in manifests for found in _pod(manifest, gates)]


def _pod(manifest: Manifest, gates: Gates) -> Iterator[Explained]:
    pod, name = manifest.pod, manifest.object
    kind = name.kind if name is not None else "Pod"
    own = name.name if name is not None and name.name else pod.metadata.name
    label = f"{kind}/{pod.metadata.namespace}/{own}"
    for is_sidecar, containers in ((True, pod.spec.init_containers), (False, pod.spec.containers)):
        for container in containers:
            yield from _container(label, pod, container, gates, is_sidecar=is_sidecar)


def _container(label: str, pod: Pod, container: Container, gates: Gates, *, is_sidecar: bool) -> Iterator[Explained]:
    found = bounds(container)
    has_startup = "startup" in found
    loop = _loop(pod, container, found, gates, is_sidecar=is_sidecar)
    for probe_type in ORDER:
        probe = container.probe(probe_type)
        if probe is not None:
            yield Explained(
                object=label,
                container=container.name,
                is_sidecar=is_sidecar,
                type=probe_type,
                probe=probe,
                bounds=found[probe_type],
                grace_seconds=_grace(pod, probe, gates),
                waits_for_startup=has_startup and probe_type != "startup",
                kills_unstarted=probe_type == ("startup" if has_startup else "liveness"),
                crash_loop=loop,
                has_post_start=container.lifecycle is not None and container.lifecycle.post_start is not None,
                hold_kills=hold_choice(pod)[0] or "off",
            )


def _loop(
    pod: Pod, container: Container, found: dict[ProbeType, Bounds], gates: Gates, *, is_sidecar: bool
) -> CrashLoop | None:
    killer = container.startup_probe or container.liveness_probe
    if killer is None:
        return None
    own_counts = is_sidecar or gates["ContainerRestartRules"]
    restarts = restart_spec(pod, container).after_kill() if own_counts else pod.spec.restart_policy != "Never"
    budget = next(iter(found.values())).startup_budget
    if not restarts or budget is None:
        return None
    return crash_loop(Span(budget.earliest, budget.typical, budget.latest + _grace(pod, killer, gates)))


def _grace(pod: Pod, probe: Probe, gates: Gates) -> int:
    own = probe.termination_grace_period_seconds if gates["ProbeTerminationGracePeriod"] else None
    grace = own if own is not None else pod.spec.termination_grace_period_seconds
    return max(GRACE_SECONDS_DEFAULT if grace is None else grace, GRACE_SECONDS_MIN)
