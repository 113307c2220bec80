"""The plays of a recording's pods with kills that wait, and what the document says about the incidents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from probelet.host.incidents.document import incident_document
from probelet.lab.recording import Assumption, Kill, Played, Recording
from probelet.lab.whatif.compare import Compared
from probelet.lab.whatif.document import HoldPart
from probelet.lab.whatif.holding.play import HeldPlay
from probelet.lab.whatif.holding.subjects import known_pod
from probelet.policy.incidents import Incident
from probelet.policy.incidents.subjects import CommandReader
from probelet.policy.node.kill_gate import HoldOptions
from probelet.spec.read.load import Manifest
from probelet.spec.text.duration import SECOND


@dataclass(frozen=True)
class Holding:
    """Which kills wait; ``manifests`` say what a recording lacks."""

    options: HoldOptions
    manifests: Sequence[Manifest]
    read_command: CommandReader


def with_waits(
    recording: Recording, plays: Mapping[tuple[int, int], Compared], holding: Holding, assume: Assumption | None
) -> tuple[dict[tuple[int, int], Compared], HoldPart]:
    """The plays of all pods with the kills that go on, each when it does, and the part of the document."""
    incidents: list[Incident] = []
    described: set[str] = set()
    found: dict[tuple[int, int], Compared] = {}
    for number, stretch in enumerate(recording.stretches):
        of_assumption: dict[Assumption, HeldPlay] = {
            each: HeldPlay(holding.options, each) for each in (_ALL if assume is None else (assume,))
        }
        for place, pod in enumerate(stretch.pods):
            known = known_pod(pod, recording.node, holding.manifests, holding.read_command)
            described |= {pod.uid} if known.is_described else set()
            turned = recording.turns(number, place)
            for each, play in of_assumption.items():
                compared = plays[number, place]
                kills = compared.healthy.kills if each == "healthy" else compared.failing.kills
                play.add(known, turned, kills)
        for play in of_assumption.values():
            play.run()
        first = next(iter(of_assumption.values()))
        incidents += [each for each in first.incidents.values() if not each.merged_into]
        healthy, failing = of_assumption.get("healthy", first), of_assumption.get("failing", first)
        waits = healthy.waits | failing.waits
        for place in range(len(stretch.pods)):
            one = plays[number, place]
            found[number, place] = replace(
                one,
                healthy=_with_kills(one.healthy, healthy.kills),
                failing=_with_kills(one.failing, failing.kills),
                waits=waits,
            )
    return found, HoldPart(
        choice=holding.options.choice,
        most_seconds=holding.options.most_ns / SECOND,
        incidents=[incident_document(each) for each in incidents],
        described=len(described),
    )


_ALL: tuple[Assumption, ...] = ("healthy", "failing")


def _with_kills(played: Played, going: Mapping[str, Kill]) -> Played:
    kills = [going[kill.container_id] for kill in played.kills if kill.container_id in going]
    return msgspec.structs.replace(played, kills=kills)
