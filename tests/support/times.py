"""Where the time of the tests goes: python -m tests.support.times REPORT...

Prints the sums of each folder, the longest units of work and the longest tests, and writes the seconds of each folder
into the table of tests/README.md. A cell with words stays, and so do the seconds of a folder whose tests did not run.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.report import Phase, read
from tests.support.schedule import unit

PAGE = ROOT / "tests" / "README.md"
TABLE = re.compile(r"(?<=<!-- folders -->\n).*?(?=\n<!-- end -->)", re.DOTALL)
SECONDS = 4
"""The column's place in a row that is split at its bars."""
LONGEST = 20


def patterns(row: str) -> list[str]:
    """The places below tests/ that a row of the table names."""
    return re.findall(r"`([^`]+)`", row.split("|")[1])


def rows(page: str) -> list[str]:
    """The rows of the table, without its head."""
    table = TABLE.search(page)
    assert table is not None, f"{PAGE} has no table between its comments"
    return table[0].splitlines()[2:]


def belongs(module: str, row: str) -> bool:
    """True if a row of the table has this module; ``module`` is a path from the project's folder."""
    below = module.removeprefix("tests/") if module.startswith("tests/") else f"../{module}"
    return any(fnmatch(below, f"{place}*" if place.endswith("/") else place) for place in patterns(row))


def with_seconds(page: str, phases: Iterable[Phase]) -> str:
    """The page with the seconds of a report."""
    seconds: defaultdict[str, float] = defaultdict(float)
    for phase in phases:
        seconds[phase.test.partition("::")[0]] += phase.seconds

    def filled(row: str) -> str:
        took = [seconds[module] for module in seconds if belongs(module, row)]
        cells = row.split("|")
        if took and cells[SECONDS].strip().isdigit():
            cells[SECONDS] = f" {sum(took):.0f} "
        return "|".join(cells)

    def table(found: re.Match[str]) -> str:
        lines = found[0].splitlines()
        return "\n".join([*lines[:2], *map(filled, lines[2:])])

    return TABLE.sub(table, page)


def longest(phases: Iterable[Phase], titles: dict[str, str]) -> Iterator[str]:
    """Lines with wall and processor seconds, the longest first. ``titles`` has the title of each test."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for phase in phases:
        total = sums[titles[phase.test]]
        total[0] += phase.seconds
        total[1] += phase.cpu
    for title, (seconds, cpu) in sorted(sums.items(), key=lambda row: -row[1][0])[:LONGEST]:
        yield f"{seconds:8.1f} {cpu:8.1f}  {title}"


def main() -> None:
    phases = [phase for path in sys.argv[1:] for phase in read(Path(path).read_text().splitlines())]
    tests = {phase.test for phase in phases}
    page = PAGE.read_text()
    places = {row: ", ".join(patterns(row)) for row in rows(page)}
    folders = {
        test: next((place for row, place in places.items() if belongs(test.partition("::")[0], row)), "")
        for test in tests
    }
    units = {test: unit(test) for test in tests}
    for title, titles in (("folder", folders), ("unit", units), ("test", {test: test for test in tests})):
        lines = [f"{'seconds':>8} {'cpu':>8}  {title}", *longest(phases, titles), ""]
        sys.stdout.writelines(f"{line}\n" for line in lines)
    whole = sum(phase.seconds for phase in phases), sum(phase.cpu for phase in phases)
    sys.stdout.write(f"{whole[0]:8.1f} {whole[1]:8.1f}  in all\n")
    PAGE.write_text(with_seconds(page, phases))


if __name__ == "__main__":
    main()
