"""One test of one run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.upstream.side import Side

RESULTS = Path(__file__).with_name("results")
PASSED = "passed"


class Probes(NamedTuple):
    """How many probes of the test's pods stayed with the kubelet, went to the agent, and went to a NodePodProbe."""

    native: int = 0
    taken: int = 0
    enhanced: int = 0


@dataclass(frozen=True)
class Row:
    """``stayed``: the reasons of the webhook for probes that it left with the kubelet."""

    group: str
    test: str
    state: str
    seconds: float
    probes: Probes = field(default_factory=lambda: Probes())
    stayed: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def name(self) -> str:
        return f"{self.group} / {self.test}"

    @property
    def passed(self) -> bool:
        return self.state == PASSED


@dataclass(frozen=True)
class Result:
    """One side: the commit that was played, how busy the machine was, and the rows by the names of the tests."""

    commit: str
    load: float
    rows: dict[str, Row]


def write(side: Side, commit: str, load: float, rows: Iterable[Row], folder: Path = RESULTS) -> None:
    """Keep a run, a line for each test, so that a difference between two runs is a difference of lines."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    text = f'{{"commit": {json.dumps(commit)}, "load": {load}, "rows": [\n{lines}\n]}}\n'
    (folder / f"{side.value}.json").write_text(text)


def read(side: Side, folder: Path = RESULTS) -> Result:
    """The latest run of a side. Raises OSError if there is none."""
    found = json.loads((folder / f"{side.value}.json").read_text())
    rows = [Row(**{**row, "probes": Probes(*row["probes"])}) for row in found["rows"]]
    return Result(found["commit"], found["load"], {row.name: row for row in rows})
