"""The verbs, one line each. A verb is the attribute ``app`` of ``probelet.cli.<module>``, imported on use; another
distribution registers its own as entry points (``ENTRY_POINTS``)."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal

ENTRY_POINTS: Final = "probelet.verbs"
"""The group of the entry points: the name is the verb, the object its application."""


@dataclass(frozen=True)
class Verb:
    name: str
    module: str
    """The module of its ``app``, under ``probelet.cli``; the object of its entry point, if it has a ``package``."""
    group: Literal["Node", "Cluster", "Laboratory", "Tools", "For contributors"]
    help: str
    words: tuple[str, ...] = ()
    """The words that may follow the verb, if one must."""
    word: str = "handler"
    """The kind of those words."""
    package: str = ""
    """The distribution that has it, if it is not probelet itself."""

    @property
    def app(self) -> str:
        """Its application, as the library imports it."""
        return self.module if self.package else f"probelet.cli.{self.module}:app"


_VERBS = (
    Verb("run", "serve.run", "Node", "Run pods from manifests: start, probe, kill and restart their containers."),
    Verb("serve", "serve.serve", "Node", "Offer the prober to a node agent that manages its pods itself."),
    Verb("status", "ask.status", "Node", "Show every pod and container with the state of its probes."),
    Verb("top", "ask.top", "Node", "Show the worst containers first: failing probes, restarts, back-off, lateness."),
    Verb("events", "ask.events", "Node", "Show the events of the node: failed probes, kills, restarts."),
    Verb("incidents", "ask.incidents", "Node", "Show what failures of many probes have in common."),
    Verb("logs", "ask.logs.verb", "Node", "Print the log of a container, also after its pod or the service has ended."),
    Verb("retry", "ask.retry", "Node", "Start containers that wait for their restart delay now."),
    Verb("reset", "ask.reset", "Node", "Reset the restart delay of containers."),
    Verb(
        "probe",
        "probe.verb",
        "Node",
        "Run one probe; show its result and how long each part took.",
        ("http", "tcp", "grpc", "exec"),
    ),
    Verb(
        "webhook",
        "cluster.webhook",
        "Cluster",
        "Move the probes of new pods from their kubelet to probelet, as an admission webhook.",
    ),
    Verb("agent", "cluster.agent", "Cluster", "Probe pods that a kubelet runs: take their probes over, beside it."),
    Verb("pause", "cluster.pause", "Cluster", "Let probes of a pod make no attempt for a while."),
    Verb(
        "controller",
        "cluster.controller",
        "Cluster",
        "Decide for the whole cluster which failed liveness probe leads to a restart.",
    ),
    Verb("lint", "lint.verb", "Laboratory", "Find probes that will kill, hide or miss what nobody meant."),
    Verb("explain", "explain.verb", "Laboratory", "Say in seconds what the fields of the probes of manifests mean."),
    Verb("simulate", "simulate.verb", "Laboratory", "Play manifests through a scenario: what probes do to a service."),
    Verb(
        "whatif",
        "whatif.verb",
        "Laboratory",
        "Play a flight recording with other probe settings: which restarts change.",
    ),
    Verb(
        "backoff",
        "backoff.verb",
        "Laboratory",
        "Compute crash-loop back-off: the times of restarts, and their load.",
        ("table", "compare", "load", "plot", "kep4603"),
        "question",
    ),
    Verb(
        "config",
        "serve.config",
        "Tools",
        "Show the effective configuration and where each value comes from, or its schema.",
        ("show", "schema"),
        "command",
    ),
    Verb(
        "bench",
        "measure.bench",
        "Tools",
        "Measure the CPU, memory and lateness of probes.",
        ("http", "https", "tcp", "grpc", "exec"),
    ),
    Verb(
        "stress", "stress.verb", "For contributors", "Fill a node with crashing containers; count restarts and costs."
    ),
    Verb("version", "version", "Tools", "Show the version, and the kubelet release it matches."),
)

ADDED: Final = (
    Verb(
        "conformance",
        "",
        "For contributors",
        "Replay a folder of recordings and list the differences.",
        package="probelet-conformance",
    ),
    Verb(
        "replay",
        "",
        "For contributors",
        "Replay recordings of the kubelet's prober with probelet's and compare.",
        package="probelet-conformance",
    ),
)
"""The verbs that other distributions have, installed or not."""


def _with_help(*verbs: Verb) -> tuple[Verb, ...]:
    words = (*(verb.name for verb in verbs), "help")
    return (*verbs, Verb("help", "help", "Tools", "Explain a verb, as 'probelet VERB --help' does.", words, "verb"))


VERBS: Final = _with_help(*_VERBS)
"""The verbs that probelet itself has."""


@cache
def installed() -> tuple[Verb, ...]:
    """The verbs of this installation in their order. A verb of ``VERBS`` runs without asking for it: reading the
    metadata of all distributions takes longer than many a verb."""
    from importlib.metadata import entry_points

    found = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    added = (replace(verb, module=found[verb.name]) for verb in ADDED if verb.name in found)
    return _with_help(*_VERBS, *added)


INSTALL_COMPLETION = "Install the completion of verbs and options for this shell."
