"""Plays the changed pods of a recording, and fills the document."""

from collections.abc import Iterator
from dataclasses import dataclass

from probelet.base.exposition.timestamp import rfc3339
from probelet.lab.recording import Assumption, Change, RecordedPod, Recording
from probelet.lab.whatif.changes import Changes, changed_fields, unchanged
from probelet.lab.whatif.compare import Compared, differences
from probelet.lab.whatif.document import (
    SCHEMA,
    AnswersPart,
    ChangeRow,
    CheckPart,
    RecordingPart,
    WhatifDocument,
)
from probelet.lab.whatif.holding.held import Holding, with_waits
from probelet.lab.whatif.outages import NEVER


@dataclass(frozen=True)
class Window:
    """The time whose restarts and outages are wanted, in Unix microseconds. All of the recording is played."""

    since_us: int = 0
    until_us: int = NEVER

    def has(self, at_us: int) -> bool:
        """Whether a moment is in it."""
        return self.since_us <= at_us < self.until_us


ALL = Window()


def whatif(
    recording: Recording,
    changes: Changes,
    *,
    assume: Assumption | None = None,
    window: Window = ALL,
    holding: Holding | None = None,
) -> WhatifDocument:
    """Plays every pod that ``changes`` changes, with ``holding`` every pod, and compares. Takes about a second for a
    million attempts."""
    restarts, outages, starts = [], [], []
    rows: list[ChangeRow] = []
    answers = AnswersPart(recorded=0, carried=0, unknown=0)
    unlike = 0
    plays: dict[tuple[int, int], Compared] = {}
    for place, changed in sorted((changes if holding is None else unchanged(recording) | changes).items()):
        stretch, number = place
        pod = recording.stretches[stretch].pods[number]
        rows += _changes(pod, changed)
        healthy = recording.play(stretch, number, changed, assume or "healthy")
        failing = healthy if assume else recording.play(stretch, number, changed, "failing")
        unlike += differences(pod.results, recording.play(stretch, number, [], "healthy").results)
        answers["recorded"] += failing.recorded
        answers["carried"] += failing.carried
        answers["unknown"] += failing.unknown
        plays[place] = Compared(pod, healthy, failing)
    hold = None
    if holding is not None:
        plays, hold = with_waits(recording, plays, holding, assume)
    for compared in plays.values():
        restarts += [each for each in compared.restarts() if window.has(each[0])]
        outages += [each for each in compared.outages() if window.has(each[0])]
        starts += list(compared.starts())
    return WhatifDocument(
        schema=SCHEMA,
        recording=_recording(recording),
        assume=assume,
        changes=rows,
        hold=hold,
        restarts=[row for _, row in sorted(restarts, key=lambda each: each[0])],
        outages=[row for _, row in sorted(outages, key=lambda each: each[0])],
        starts=starts,
        answers=answers,
        check=CheckPart(reproduced=unlike == 0, differences=unlike),
    )


def _changes(pod: RecordedPod, changes: list[Change]) -> Iterator[ChangeRow]:
    containers = {container.name: container for container in pod.containers}
    for change in changes:
        old = containers[change.container].probes.get(change.type)
        for field, before, after in changed_fields(old, change.probe):
            yield ChangeRow(
                pod=f"{pod.namespace}/{pod.name}",
                container=change.container,
                type=change.type,
                field=field,
                before=before,
                after=after,
            )


def _recording(recording: Recording) -> RecordingPart:
    stretches = recording.stretches
    pods = [pod for stretch in stretches for pod in stretch.pods]
    return RecordingPart(
        node=recording.node,
        from_time=rfc3339(stretches[0].from_us // 1_000) if stretches else None,
        to_time=rfc3339(stretches[-1].to_us // 1_000) if stretches else None,
        pods=len({pod.uid for pod in pods}),
        attempts=sum(pod.attempts for pod in pods),
        lost=recording.lost,
        cuts=recording.cuts,
    )
