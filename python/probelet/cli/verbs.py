"""The verbs, one line each. A verb is the attribute ``app`` of ``probelet.cli.<module>``, which is imported on use."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Verb:
    name: str
    module: str
    """Where its ``app`` is, under ``probelet.cli``."""
    group: Literal["Node", "Laboratory", "Tools"]
    help: str
    words: tuple[str, ...] = ()
    """What may follow the verb, where something has to."""
    word: str = "handler"
    """What each of them is."""


VERBS = (
    Verb("run", "serve.run", "Node", "Run pods from manifests: start, probe, kill and restart their containers."),
    Verb("serve", "serve.serve", "Node", "Offer the prober to a node agent that keeps its pods itself."),
    Verb("status", "ask.status", "Node", "Show every pod and container and how its probes stand."),
    Verb("top", "ask.top", "Node", "Show what hurts most: failing probes, restarts, back-off, lateness."),
    Verb("events", "ask.events", "Node", "Show what has happened: failed probes, kills, restarts."),
    Verb("retry", "ask.retry", "Node", "Start containers now that wait for their restart delay."),
    Verb("reset", "ask.reset", "Node", "Forget the restart delay of containers."),
    Verb(
        "probe",
        "probe.verb",
        "Node",
        "Run one probe and show what it saw, phase by phase.",
        ("http", "tcp", "grpc", "exec"),
    ),
    Verb(
        "backoff",
        "backoff.verb",
        "Laboratory",
        "Work out crash-loop back-off: when restarts come, and what they cost.",
        ("table", "compare", "load", "plot", "kep4603"),
        "question",
    ),
    Verb(
        "config",
        "serve.config",
        "Tools",
        "Show the effective configuration and where each value comes from.",
        ("show",),
        "command",
    ),
    Verb(
        "bench",
        "measure.bench",
        "Tools",
        "Measure what probes cost and how late they are.",
        ("http", "https", "tcp", "grpc", "exec"),
    ),
    Verb(
        "stress", "stress.verb", "Laboratory", "Fill a node with crashing containers and count what it does and costs."
    ),
    Verb("version", "version", "Tools", "Show the version, and the kubelet it is equivalent to."),
    Verb("conformance", "measure.conformance", "Tools", "Play a folder of recordings and say what differs."),
    Verb(
        "replay",
        "measure.replay",
        "Tools",
        "Play recordings of the kubelet's prober through probelet's own and compare.",
    ),
)
