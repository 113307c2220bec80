"""The series of enhanced liveness on a node, as Prometheus text. No pod, container or message is a label."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_OF_ENGINE: Final = {
    "probelet_probe_runs_total": "probelet_elp_probe_total",
    "probelet_probe_attempt_duration_seconds": "probelet_elp_probe_duration_seconds",
    "probelet_probe_lateness_seconds": "probelet_elp_probe_lag_seconds",
}
"""Families of the engine's page, which the agent's first engine has too, and their names here."""

_TEXTS: Final = {
    "probelet_elp_probe_total": "Runs of enhanced liveness by result; an error counts for nothing.",
    "probelet_elp_probe_duration_seconds": "How long attempts of enhanced liveness took, failures included.",
    "probelet_elp_probe_lag_seconds": "How late attempts of enhanced liveness began against their schedule.",
}

_SAMPLE: Final = re.compile(r"(\w+?)(_bucket|_sum|_count)?(\{.*\})? (\S+)")

WRITES: Final = ("conflict", "error", "ok", "unchanged")


@dataclass(frozen=True, slots=True)
class EnhancedNumbers:
    """``writes``: of the status, by how they ended."""

    probes: int
    refused: int
    writes: Mapping[str, int]


def render(numbers: EnhancedNumbers, engine: bytes) -> bytes:
    """The part of the page; ``engine`` is the page of the engine of enhanced liveness."""
    lines = [
        "# HELP probelet_elp_probes Probes of the node's NodePodProbe.",
        "# TYPE probelet_elp_probes gauge",
        f"probelet_elp_probes {numbers.probes}",
        "# HELP probelet_elp_probes_refused_total Probes that do not run, because of what the object says of them.",
        "# TYPE probelet_elp_probes_refused_total counter",
        f"probelet_elp_probes_refused_total {numbers.refused}",
        "# HELP probelet_elp_status_updates_total Writes of the NodePodProbe's status, by how they ended.",
        "# TYPE probelet_elp_status_updates_total counter",
        *(f'probelet_elp_status_updates_total{{result="{end}"}} {numbers.writes.get(end, 0)}' for end in WRITES),
        *_of_engine(engine.decode()),
    ]
    return ("\n".join(lines) + "\n").encode()


def _of_engine(page: str) -> Iterator[str]:
    for line in page.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ", 3)
            if (named := _OF_ENGINE.get(name)) is not None:
                yield f"# HELP {named} {_TEXTS[named]}"
                yield f"# TYPE {named} {kind}"
        elif (sample := _SAMPLE.fullmatch(line)) and (named := _OF_ENGINE.get(sample[1])) is not None:
            labels = sample[3] or ""
            if 'probe_type="' not in labels:
                yield f"{named}{sample[2] or ''}{labels} {sample[4]}"
            elif 'probe_type="Liveness"' in labels:
                # Every probe of this engine is one of liveness; the other types have no run.
                typed = labels.replace('probe_type="Liveness"', 'type="liveness"')
                yield f"{named}{typed} {sample[4]}"
