"""Which opt-ins reach the pods of other node agents, so that no option is silently without effect in ``serve`` and
``agent``."""

from collections.abc import Mapping
from typing import Final

from probelet.config.load import Config
from probelet.spec.text.problem import Problem

EVERYWHERE: Final = frozenset(
    {
        "denyHostProbes",
        "eventWording",
        "extraAttemptsPerSecond",
        "flightRecorder",
        "probeOptionDefaults",
        "probeOptions",
        "restore",
        "schedule",
        "startedCarriedBy",
        "starvedShare",
        "starvedVerdict",
        "wakeSlack",
    }
)
"""Opt-ins of the prober."""

EXECS: Final = frozenset({"execClientDeadline", "execMaxInFlight", "execSingleFlight"})
"""Opt-ins for exec probes on a runtime."""

RUN: Final = frozenset({"execMode", "holdKills", "holdKillsFor", "incidentWebhook", "incidents", "probeChanges"})
"""Opt-ins of ``run`` and ``agent``."""

RESTARTS: Final = frozenset(
    {
        "containerBackoffAnnotations",
        "containerBackoffMax",
        "containerBackoffMin",
        "firstRestart",
        "maxContainerAge",
        "probeKillAccounting",
        "reducedCurveMax",
        "releaseOnDependency",
        "restartBudget",
        "restartTimer",
    }
)
"""Opt-ins for restarts, which a caller decides itself."""


def without_effect(config: Config, *, has_runtime: bool) -> list[Problem]:
    """A warning for each opt-in that a file sets and that ``serve`` does not use."""
    reasons = dict.fromkeys(RESTARTS, "the caller restarts containers") | dict.fromkeys(RUN, "run and agent have it")
    if not has_runtime:
        reasons |= dict.fromkeys(EXECS, "the caller carries out exec probes; --runtime would")
    return _warnings(config, "serve", reasons)


def without_effect_in_agent(config: Config) -> list[Problem]:
    """A warning for each opt-in that a file sets and that ``agent`` does not use."""
    reasons = dict.fromkeys(RESTARTS, "the kubelet restarts containers")
    return _warnings(config, "agent", reasons | {"denyHostProbes": "a probe that names a host is never taken over"})


def _warnings(config: Config, verb: str, reasons: Mapping[str, str]) -> list[Problem]:
    found = []
    for path, origin in sorted(config.origins.items()):
        name = path.partition(".")[0]
        if name in reasons:
            found.append(Problem("warning", f"no effect in {verb}: {reasons[name]} ({origin})", field=path))
    return found
