"""The verbs, one line each. A verb is the attribute ``app`` of ``probelet.cli.<name>``, imported when it is used."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Verb:
    name: str
    group: Literal["Node", "Laboratory", "Tools"]
    help: str
    words: tuple[str, ...] = ()
    """What may follow the verb, where something has to."""
    word: str = "handler"
    """What each of them is."""


VERBS = (
    Verb("run", "Node", "Run pods from manifests: start, probe, kill and restart their containers."),
    Verb("serve", "Node", "Offer the prober to a node agent that keeps its pods itself."),
    Verb("status", "Node", "Show every pod and container and how its probes stand."),
    Verb("top", "Node", "Show what hurts most: failing probes, restarts, back-off, lateness."),
    Verb("events", "Node", "Show what has happened: failed probes, kills, restarts."),
    Verb("retry", "Node", "Start containers now that wait for their restart delay."),
    Verb("reset", "Node", "Forget the restart delay of containers."),
    Verb("probe", "Node", "Run one probe and show what it saw, phase by phase.", ("http", "tcp", "grpc", "exec")),
    Verb(
        "backoff",
        "Laboratory",
        "Work out crash-loop back-off: when restarts come, and what they cost.",
        ("table", "compare", "load", "plot", "kep4603"),
        "question",
    ),
    Verb("config", "Tools", "Show the effective configuration and where each value comes from.", ("show",), "command"),
    Verb("bench", "Tools", "Measure what probes cost and how late they are.", ("http", "https", "tcp", "grpc", "exec")),
    Verb("stress", "Laboratory", "Fill a node with crashing containers and count what it does and costs."),
    Verb("version", "Tools", "Show the version, and the kubelet it is equivalent to."),
    Verb("conformance", "Tools", "Play a folder of recordings and say what differs."),
    Verb("replay", "Tools", "Play recordings of the kubelet's prober through probelet's own and compare."),
)
