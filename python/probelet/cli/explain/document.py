"""The bounds as a ``probelet-explain/1`` document."""

from collections.abc import Sequence
from typing import Final, Literal, NotRequired, TypedDict

import msgspec

from probelet.lab.explain import CrashLoop, Explained, Span
from probelet.spec.model.probe import ProbeType

SCHEMA: Final = "probelet-explain/1"


class CrashLoopRow(TypedDict):
    """Where the restarts of a container that never succeeds end."""

    plateau_seconds: int
    """The longest delay before a restart; 0 if none ever waits."""
    after_restarts: int
    """The first restart that may wait so long."""
    reached_seconds: list[int]
    """When that wait begins at the earliest and at the latest, from the container's first start on."""


class ProbeRow(TypedDict):
    """One probe. Each list has two numbers: the earliest and the latest."""

    object: str
    """The manifest's object: ``Kind/namespace/name``."""
    container: str
    """The container's name."""
    type: ProbeType
    """The probe's type."""
    first_probe_seconds: list[int]
    """The first attempt, from the container running."""
    to_ready_seconds: list[int] | None
    """Of a readiness probe: ready, from the moment on which every attempt would succeed."""
    to_unready_seconds: list[int] | None
    """Of a readiness probe: not ready, from the moment on which every attempt would fail."""
    to_kill_seconds: list[int] | None
    """Of the two others: the verdict, before the grace, from the moment on which every attempt would fail."""
    startup_budget_seconds: list[int] | None
    """The verdict about a container that never succeeds, from the container running; null if no probe kills it."""
    crash_loop: CrashLoopRow | None
    """The restarts of a container that never succeeds; null if no probe kills it, or if it does not start again."""


class AgainstDocument(TypedDict):
    """The other version of the manifests."""

    probes: list[ProbeRow]
    """Its probes."""


class ExplainDocument(TypedDict):
    """The meaning of the fields of probes in seconds."""

    schema: Literal["probelet-explain/1"]
    probes: list[ProbeRow]
    """The probes in the order of the manifests."""
    against: NotRequired[AgainstDocument]
    """Only with ``--against``."""


def document(found: Sequence[Explained], other: Sequence[Explained] | None) -> bytes:
    """The document; ``other``, the probes of another version, is under the key ``against``."""
    whole = ExplainDocument(schema=SCHEMA, probes=[_probe(each) for each in found])
    if other is not None:
        whole["against"] = AgainstDocument(probes=[_probe(each) for each in other])
    return msgspec.json.encode(whole)


def _probe(explained: Explained) -> ProbeRow:
    bounds = explained.bounds
    return ProbeRow(
        object=explained.object,
        container=explained.container,
        type=explained.type,
        first_probe_seconds=bounds.first_probe.seconds,
        to_ready_seconds=_seconds(bounds.to_ready),
        to_unready_seconds=_seconds(bounds.to_unready),
        to_kill_seconds=_seconds(bounds.to_kill),
        startup_budget_seconds=_seconds(bounds.startup_budget),
        crash_loop=_crash_loop(explained.crash_loop),
    )


def _seconds(span: Span | None) -> list[int] | None:
    return None if span is None else span.seconds


def _crash_loop(loop: CrashLoop | None) -> CrashLoopRow | None:
    if loop is None:
        return None
    return CrashLoopRow(
        plateau_seconds=loop.plateau_seconds, after_restarts=loop.after_restarts, reached_seconds=loop.reached.seconds
    )
