"""The mistakes of the manifests as they are now: for the status document, the page and the metrics."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from probelet.base.printable import printable
from probelet.spec.text.problem import Problem, shorten

SHOWN_MAX: Final = 100
"""Most mistakes in a status document: a screenful or two. The count has all of them."""

MESSAGE_CHARS_MAX: Final = 1000
"""Most characters that a kept mistake has: the API server's longest sentences have 500. Keys of a manifest may have as
many as the file."""

Reason: TypeAlias = Literal["unreadable", "refused", "duplicate"]
"""The subject of a mistake: a file or document as a whole, an object, an object whose name another one has."""

REASONS: Final[tuple[Reason, ...]] = ("unreadable", "refused", "duplicate")


class Mistakes(msgspec.Struct, frozen=True):
    """A snapshot; nothing changes it."""

    shown: tuple[Problem, ...] = ()
    """The first ``SHOWN_MAX`` mistakes."""
    counts: Mapping[Reason, int] = msgspec.field(default_factory=Counter)
    """The number of all mistakes, by reason."""
    outdated: Mapping[str, Problem] = msgspec.field(default_factory=dict)
    """Pods of an earlier version of their manifest, by namespace/name, with the mistake of the newest version."""

    @property
    def total(self) -> int:
        """The number of all mistakes."""
        return sum(self.counts.values())


def mistakes(errors: Sequence[Problem], doubles: Sequence[Problem], outdated: Mapping[str, Problem]) -> Mistakes:
    """The snapshot of bounded mistakes; ``doubles`` are about names that two objects have."""
    counts: Counter[Reason] = Counter("unreadable" if error.object is None else "refused" for error in errors)
    counts["duplicate"] = len(doubles)
    return Mistakes((*errors, *doubles)[:SHOWN_MAX], counts, outdated)


def bounded(problem: Problem) -> Problem:
    """A copy without long texts, which would keep the manifest in memory, and without unprintable characters."""
    name, path = problem.object, problem.path
    return replace(
        problem,
        message=printable(problem.message[:MESSAGE_CHARS_MAX]),
        path=None if path is None else Path(printable(str(path))),
        field=printable(shorten(problem.field)),
        object=None if name is None else replace(name, namespace=_short(name.namespace), name=_short(name.name)),
    )


def _short(text: str) -> str:
    return printable(shorten(text))
