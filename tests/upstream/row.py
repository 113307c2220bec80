"""One test of one run."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tests.upstream.side import Side

RESULTS = Path(__file__).with_name("results")
BEFORE = "native-before.json"
"""The native run before the latest one: what two runs of one and the same thing differ by is chance."""
PASSED = "passed"


class Probes(NamedTuple):
    """How many probes of the test's pods stayed with the kubelet, went to the agent, went to a NodePodProbe, and were
    handed over by the kubelet to ``probelet serve``."""

    native: int = 0
    taken: int = 0
    enhanced: int = 0
    served: int = 0

    @property
    def moved(self) -> bool:
        """Whether any probe went elsewhere."""
        return self.taken + self.enhanced + self.served > 0


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

    def handed_over(self) -> "Row":
        """The same test on a kubelet that hands every probe over to ``probelet serve``."""
        return replace(self, probes=Probes(served=self.probes.native))

    @property
    def passed(self) -> bool:
        return self.state == PASSED


@dataclass(frozen=True)
class Result:
    """One side: the commit that was played, how busy the machine was, how many tests ran at a time, and the rows by the
    names of the tests.

    ``before`` has the seconds of the tests that passed in the run before, of the native side alone.
    """

    commit: str
    load: float
    processes: int
    rows: dict[str, Row]
    before: dict[str, float] = field(default_factory=dict)


def write(side: Side, commit: str, load: float, processes: int, rows: Iterable[Row], folder: Path = RESULTS) -> None:
    """Keep a run, a line for each test, so that a difference between two runs is a difference of lines."""
    lines = ",\n".join(json.dumps(asdict(row)) for row in rows)
    file = folder / f"{side.value}.json"
    if side is Side.NATIVE and file.exists():
        file.replace(folder / BEFORE)
    head = f'"commit": {json.dumps(commit)}, "load": {load}, "processes": {processes}'
    text = f'{{{head}, "rows": [\n{lines}\n]}}\n'
    file.write_text(text)


def read(side: Side, folder: Path = RESULTS) -> Result:
    """The latest run of a side. Raises OSError if there is none."""
    result = _read(folder / f"{side.value}.json")
    if side is Side.NATIVE and (folder / BEFORE).exists():
        rows = _read(folder / BEFORE).rows.values()
        return replace(result, before={row.name: row.seconds for row in rows if row.passed})
    return result


def _read(file: Path) -> Result:
    found = json.loads(file.read_text())
    rows = [Row(**{**row, "probes": Probes(*row["probes"])}) for row in found["rows"]]
    return Result(found["commit"], found["load"], found["processes"], {row.name: row for row in rows})
