"""The attempts of a pod's probes, within the bound of the document: failures and changes stay longest."""

from collections.abc import Sequence
from itertools import pairwise

from probelet.lab.picture.document import AttemptsRow, Outcome, ProbeRow
from probelet.virtual.cluster import Attempt, ProbeRecord

_LETTERS: dict[str, Outcome] = {"success": "s", "failure": "f", "timeout": "t", "error": "e"}


def probe_row(probe: ProbeRecord, most: int) -> ProbeRow:
    """A probe with at most ``most`` of its attempts."""
    kept = [probe.attempts[index] for index in chosen(probe.attempts, most)]
    return ProbeRow(
        container=probe.container,
        type=probe.type,
        timeout_seconds=float(probe.timeout_seconds),
        period_seconds=float(probe.period_seconds),
        failure_threshold=probe.failure_threshold,
        attempts=AttemptsRow(
            t=[round(attempt.at, 3) for attempt in kept],
            took=[round(attempt.took, 3) for attempt in kept],
            outcome="".join(_LETTERS[attempt.outcome] for attempt in kept),
            cause=[attempt.cause for attempt in kept],
        ),
        dropped=probe.made - len(kept),
    )


def chosen(attempts: Sequence[Attempt], most: int) -> list[int]:
    """The indices of the attempts that stay: the neighbours of a change first, then failures, then every n-th."""
    if len(attempts) <= most:
        return list(range(len(attempts)))
    changes = {
        index + side
        for index, (before, after) in enumerate(pairwise(attempts))
        if (before.outcome, before.cause) != (after.outcome, after.cause)
        for side in (0, 1)
    }
    failures = {index for index, attempt in enumerate(attempts) if attempt.outcome != "success"}
    kept: set[int] = set()
    for group in (changes, failures, set(range(len(attempts)))):
        left = sorted(group - kept)
        room = most - len(kept)
        kept |= set(left if len(left) <= room else [left[len(left) * n // room] for n in range(room)])
    return sorted(kept)
