"""The parts that all pods of an agent share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from probelet._rust import Engine
from probelet.agent.kill.kills import Kills
from probelet.agent.pod.pauses import Pauses
from probelet.beside.pods.api_pod import Condition
from probelet.beside.pods.condition import Readiness
from probelet.beside.pods.facts import Known
from probelet.host.recorder import Recorder
from probelet.host.timers import Timers
from probelet.runtime.seen.cache import PodCache


class ConditionSink(Protocol):
    """Takes the conditions of pods to the API server."""

    def set(self, uid: str, namespace: str, name: str, readiness: Readiness) -> None:
        """The condition of a pod is this one from now on."""

    def found(self, uid: str, condition: Condition | None, version: str) -> None:
        """The API server has this condition in this version of a pod."""

    def forget(self, uid: str) -> None:
        """The pod is gone."""


@dataclass(frozen=True, slots=True)
class Parts:
    """``journal`` has the results of an earlier agent; ``is_away`` says whether the API server is."""

    engine: Engine
    cache: PodCache
    timers: Timers
    recorder: Recorder
    kills: Kills
    conditions: ConditionSink
    pauses: Pauses
    host_ip: str
    journal: Known
    is_away: Callable[[], bool]
