"""The fallback: the liveness probe stays with the kubelet too, and fails for longer there before it kills.

An agent that lives has killed long before, and one that is away is no longer the only one that restarts the container.
"""

from collections.abc import Mapping
from typing import Final

from probelet.beside.takeover.made import NEVER
from probelet.beside.takeover.names import FALLBACK_ANNOTATION
from probelet.beside.takeover.rules import decoded_probe
from probelet.errors import ProbeletError
from probelet.spec.model.pod_object import RawProbe
from probelet.spec.rules.defaults import TERMINATION_GRACE_PERIOD_SECONDS
from probelet.spec.text.duration import MINUTE, SECOND, DurationError, parse_duration
from probelet.spec.text.golang import go_quote

LEAST_NS: Final = MINUTE
"""The shortest fallback. A probe that needs longer for its own kill gets longer (``fallback_of``)."""

LEAST_ENHANCED_NS: Final = 30 * MINUTE
"""The shortest one with enhanced liveness: a budget or a delay may hold a restart back for as long as it likes, and a
shorter fallback would often decide before the cluster does."""


class FallbackError(ProbeletError, ValueError):
    """The text names no fallback; one line, with what is allowed."""


def read_fallback(text: str, least_ns: int = LEAST_NS) -> int:
    """The nanoseconds that ``text`` names; 0 for ``none``. Raises FallbackError."""
    if text == "none":
        return 0
    try:
        ns = parse_duration(text)
    except DurationError:
        ns = 0
    if ns < least_ns:
        least = f"{least_ns // MINUTE}m"
        raise FallbackError(f"Invalid value: {go_quote(text)}: must be a duration of at least {least}, or none")
    return ns


def asked(annotations: Mapping[str, str], default_ns: int, least_ns: int = LEAST_NS) -> int:
    """The fallback of a pod with these annotations; 0 for none. ``default_ns`` counts for a pod that names none.

    Raises FallbackError with the place.
    """
    text = annotations.get(FALLBACK_ANNOTATION)
    if text is None:
        return max(default_ns, least_ns) if default_ns else 0
    try:
        return read_fallback(text, least_ns)
    except FallbackError as error:
        raise FallbackError(f"metadata.annotations[{FALLBACK_ANNOTATION}]: {error}") from None


def fallback_of(liveness: RawProbe, ns: int, grace_seconds: int | None) -> RawProbe:
    """A liveness probe that kills after ``ns`` of failures, and never before an agent has: the agent may need twice as
    long as its probe says, then the grace. ``grace_seconds`` is the pod's."""
    probe = decoded_probe(liveness)
    grace = probe.termination_grace_period_seconds
    if grace is None:
        grace = TERMINATION_GRACE_PERIOD_SECONDS if grace_seconds is None else grace_seconds
    agents = 2 * probe.failure_threshold * (probe.period_seconds + probe.timeout_seconds) + grace
    failures = -(-max(ns, agents * SECOND) // (probe.period_seconds * SECOND))
    return {**liveness, "failureThreshold": min(failures, NEVER)}
