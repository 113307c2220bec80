"""The inputs of the detector: which probes there are, how their attempts ended, and what was done to containers."""

from typing import NamedTuple, TypeAlias

import msgspec

from probelet.policy.incidents.turn import Turn


class ProbeKey(NamedTuple):
    """The name of a probe."""

    pod_uid: str
    container: str
    probe_type: str


class Subject(msgspec.Struct, frozen=True):
    """A probe, and everything that it may share with others. An empty text stands for what the caller does not know."""

    pod_uid: str
    namespace: str
    pod: str
    container: str
    probe_type: str
    node: str
    workload: str = ""
    """``Deployment/shop``; empty for a pod that nothing manages."""
    image: str = ""
    targets: tuple[str, ...] = ()
    """The names or addresses that the probe asks beyond its own container, such as ``db:5432``."""
    period_ms: int = 10_000
    timeout_ms: int = 1_000
    failure_threshold: int = 3

    @property
    def key(self) -> ProbeKey:
        """The probe's name."""
        return ProbeKey(self.pod_uid, self.container, self.probe_type)


class ProbeKnown(msgspec.Struct, frozen=True):
    """There is a probe, or what is known about it has changed."""

    subject: Subject


class ProbeGone(msgspec.Struct, frozen=True):
    """A probe is no more. A caller says so as soon as its pod is being deleted: a process that ends fails its probes,
    and that is no incident."""

    key: ProbeKey


class RolledOut(msgspec.Struct, frozen=True):
    """A workload of this namespace has a new version."""

    namespace: str
    workload: str
    image: str


class Killed(msgspec.Struct, frozen=True):
    """A probe's verdict has a container killed."""

    pod_uid: str
    container: str
    at_ms: int


class Exited(msgspec.Struct, frozen=True):
    """A container ended by itself: nothing killed it, and its pod is not being deleted."""

    pod_uid: str
    container: str
    at_ms: int


class Passed(msgspec.Struct, frozen=True):
    """Nothing but time."""


Input: TypeAlias = ProbeKnown | ProbeGone | Turn | RolledOut | Killed | Exited | Passed
