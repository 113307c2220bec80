"""The reasons for differences between the runs, from explanations.yaml."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from tests.upstream.side import Side

FILE = Path(__file__).with_name("explanations.yaml")

Kind = Literal["red", "slower"]


@dataclass(frozen=True)
class Difference:
    """A test that failed, or that took longer than the native run.

    ``seconds``: how much longer; ``moved``: whether a probe of its pods was taken over.
    """

    side: Side
    name: str
    kind: Kind
    seconds: float = 0.0
    moved: bool = False
    words: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why tests differ.

    It covers a test that is slower by at most ``seconds``, and with ``native`` only tests whose probes all stayed with
    the kubelet.
    """

    tests: re.Pattern[str]
    sides: tuple[Side, ...]
    kind: Kind
    seconds: float
    native: bool
    why: str

    def covers(self, difference: Difference) -> bool:
        return (
            difference.side in self.sides
            and difference.kind == self.kind
            and difference.seconds <= self.seconds
            and not (self.native and difference.moved)
            and self.tests.search(difference.name) is not None
        )


def explanations(file: Path = FILE) -> list[Explanation]:
    """In the order of the file: the first one that covers a difference is its reason."""
    return [
        Explanation(
            tests=re.compile(one["tests"]),
            sides=tuple(Side(side) for side in one["sides"]),
            kind=one["kind"],
            seconds=float(one.get("seconds", 0.0)),
            native=bool(one.get("native", False)),
            why=" ".join(one["why"].split()),
        )
        for one in yaml.safe_load(file.read_text())
    ]


def explained(difference: Difference, known: Iterable[Explanation]) -> Explanation | None:
    return next((one for one in known if one.covers(difference)), None)
