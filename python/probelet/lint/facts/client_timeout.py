"""How long clients wait for a workload's answers, as far as the manifests say it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from probelet.lint.model.route import HTTPRoute, Ingress, VirtualService
from probelet.lint.model.workload import LintWorkload
from probelet.spec.text.duration import SECOND, DurationError, parse_duration

LONGEST: Final = 300
"""Seconds. A longer read timeout is for streams and uploads, and no client waits it for an answer."""

_ANNOTATIONS: Final = (
    "nginx.ingress.kubernetes.io/proxy-read-timeout",
    "haproxy.org/timeout-server",
    "haproxy-ingress.github.io/timeout-server",
)


class ClientTimeout(NamedTuple):
    """The time, and where it stands."""

    seconds: float
    source: str


def client_timeout(workload: LintWorkload) -> ClientTimeout | None:
    """The shortest time for which clients of a workload wait; the user's setting is stronger. None if nothing says."""
    if (setting := workload.settings.client_timeout) is not None:
        return ClientTimeout(setting, "the setting client-timeout")
    found = [each for each in _of_routes(workload) if 0 < each.seconds <= LONGEST]
    return min(found, default=None)


def _of_routes(workload: LintWorkload) -> Iterator[ClientTimeout]:
    names = {service.metadata.name for service in workload.services}
    for route in workload.routes:
        label = f"{route.kind}/{route.metadata.name}"
        texts: list[tuple[str, str]] = []
        if isinstance(route, Ingress):
            annotations = route.metadata.annotations
            texts = [(annotations[name], name) for name in _ANNOTATIONS if name in annotations]
        elif isinstance(route, HTTPRoute):
            rules = [rule for rule in route.spec.rules if names & {ref.name for ref in rule.backend_refs}]
            texts = [(rule.timeouts.request, "timeouts.request") for rule in rules]
            texts += [(rule.timeouts.backend_request, "timeouts.backendRequest") for rule in rules]
        elif isinstance(route, VirtualService):
            ways = [
                way
                for way in route.spec.http
                if names & {share.destination.host.partition(".")[0] for share in way.route}
            ]
            texts = [(way.timeout, "timeout") for way in ways]
        for text, field in texts:
            if (seconds := _seconds(text)) is not None:
                yield ClientTimeout(seconds, f"{field} of {label}")


def _seconds(text: str) -> float | None:
    """The seconds of a plain number or a duration; None for anything else."""
    if re.fullmatch(r"[0-9]{1,9}", text.strip()):
        return float(text)
    try:
        return parse_duration(text) / SECOND
    except DurationError:
        return None
