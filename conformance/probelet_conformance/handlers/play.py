"""Plays a case: the scripted server on real sockets, and the production handlers against it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from probelet import _rust

from probelet_conformance.difference import Difference
from probelet_conformance.handlers.case.case import Case, filled
from probelet_conformance.handlers.compare import Seen, differences
from probelet_conformance.handlers.known import reason_for
from probelet_conformance.handlers.server.server import Server

PLAYED_AT_A_TIME = 12
"""Cases played at once. Most of a case is waiting; more at once would delay the probes on two cores."""

PLAYED_AGAIN = 2
"""Repetitions of a case that differs, with no other case beside it: some differences come from timing."""


def play(case: Case, kubelet_version: str | None = None) -> Seen:
    """Plays a case once, as the kubelet calls a handler once. `kubelet_version` selects the rules; None is the release
    that was recorded. The User-Agent is the recorded one in any version.

    Raises:
        OSError: an address of the case is unavailable.
    """
    with Server(case.listeners) as server:
        probe = msgspec.json.encode(filled(case.probe, server.ports))
        ports = [(name, filled(port, server.ports)) for name, port in case.ports]
        agent, rules = f"kube-probe/{case.release}", kubelet_version or case.release
        seen = _rust.attempt(probe, case.pod_ip, ports, agent, kubelet_version=rules)
        outcome: dict[str, Any] = msgspec.json.decode(seen)
    return Seen(outcome, server.ports, server.connections)


def examined(cases: Sequence[Case], kubelet_version: str | None = None) -> Iterator[tuple[Case, list[Difference]]]:
    """Plays cases, several at once, and yields their differences. A difference must occur at every repetition.

    Raises:
        OSError: an address of a case is unavailable.
    """
    with ThreadPoolExecutor(PLAYED_AT_A_TIME) as pool:
        played = list(pool.map(lambda case: _examine(case, kubelet_version), cases))
    for case, found in zip(cases, played, strict=True):
        for _ in range(PLAYED_AGAIN):
            if all(reason_for(case, difference) for difference in found):
                break
            found = _examine(case, kubelet_version)
        yield case, found


def _examine(case: Case, kubelet_version: str | None) -> list[Difference]:
    return differences(case, play(case, kubelet_version))
