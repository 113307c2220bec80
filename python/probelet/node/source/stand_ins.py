"""The stand-ins in the pods of ``run --stand-in``."""

from typing import Final

import structlog

from probelet.base.printable import printable
from probelet.base.words import listed
from probelet.runtime.embedded.stand_in.plan import Behaviour
from probelet.runtime.embedded.stand_in.pod import BehaviourOf, with_stand_ins
from probelet.spec.model.pod import Pod

SHOWN_MAX: Final = 8
"""Containers that the line about a start names."""

log = structlog.get_logger("probelet.run")


class StandIns:
    """Puts stand-ins into pods as their manifests are read. ``behaviour_of`` says how they behave; without it they are
    healthy."""

    def __init__(self, behaviour_of: BehaviourOf | None = None) -> None:
        self._behaviour_of = behaviour_of or (lambda workload, container: Behaviour())
        self.played: dict[str, None] = {}
        """The containers that were ever played, ``pod/container``, in order."""

    def play(self, pod: Pod, workload: str) -> Pod:
        """The pod with stand-ins; for ``Rules.change``."""
        changed, names = with_stand_ins(pod, workload, self._behaviour_of)
        self.played |= {f"{pod.metadata.name}/{name}": None for name in names}
        return changed

    def announce(self) -> None:
        """Logs in one line which containers are played."""
        names = list(self.played)
        shown = listed(names, SHOWN_MAX) or "none"
        log.info("played by stand-ins, no program of theirs runs", containers=printable(shown))
