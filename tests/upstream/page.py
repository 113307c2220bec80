"""Renders docs/upstream-e2e.md: every test with result and seconds of each run, and the reason of each difference.

The words of the page are written by hand; the tables between its comments come from here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from tests.support.paths import ROOT
from tests.upstream.explanation import Difference, Explanation, explained
from tests.upstream.judge import SLOWER_SECONDS
from tests.upstream.row import Probes, Result, Row
from tests.upstream.side import Side

PAGE = ROOT / "docs" / "upstream-e2e.md"


def rendered(page: str, results: Mapping[Side, Result], found: list[Difference], known: list[Explanation]) -> str:
    """The page with new tables."""
    parts = {
        "runs": runs(results),
        "tests": tests(results, found, known),
        "reasons": reasons(known),
        "stayed": stayed(results[Side.TAKEN].rows.values()),
    }
    for name, lines in parts.items():
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        found_at = block.search(page)
        assert found_at is not None, f"{PAGE} has no part {name}"
        page = f"{page[: found_at.start()]}\n{chr(10).join(lines).strip()}\n\n{page[found_at.end() :]}"
    return page


def runs(results: Mapping[Side, Result]) -> Iterator[str]:
    probes = "probes by the kubelet | by the agent | by a NodePodProbe | by `serve`"
    yield f"| run | passed | of tests | {probes} | commit | tests at a time | load |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for side, result in results.items():
        rows = result.rows.values()
        probes = " | ".join(str(sum(row.probes[place] for row in rows)) for place in range(len(Probes._fields)))
        passed = sum(row.passed for row in rows)
        circumstances = f"`{result.commit}` | {result.processes} | {result.load:.0f}"
        yield f"| {side.shown} | {passed} | {len(rows)} | {probes} | {circumstances} |"
    native = results[Side.NATIVE]
    apart = [abs(row.seconds - native.before[name]) for name, row in native.rows.items() if name in native.before]
    if apart:
        many = sum(seconds > SLOWER_SECONDS for seconds in apart)
        yield ""
        yield (
            f"The two latest native runs differ by more than {SLOWER_SECONDS:.0f} s in {many} of {len(apart)} tests, "
            f"and by at most {max(apart):.1f} s: that is chance."
        )


def tests(results: Mapping[Side, Result], found: list[Difference], known: list[Explanation]) -> Iterator[str]:
    numbers = {one.why: number for number, one in enumerate(known, 1)}
    marks = {(one.side, one.name): _mark(one, known, numbers) for one in found}
    every: dict[str, Row] = {name: row for result in results.values() for name, row in result.rows.items()}
    for group, rows in groupby(sorted(every.values(), key=lambda row: row.name), lambda row: row.group):
        yield f"### {group}"
        yield ""
        yield "| test | " + " | ".join(side.shown for side in results) + " |"
        yield "|---|" + "---|" * len(results)
        for row in rows:
            cells = [_cell(results[side], row.name, marks.get((side, row.name), "")) for side in results]
            yield f"| {_escaped(row.test)} | " + " | ".join(cells) + " |"
        yield ""


def _mark(difference: Difference, known: list[Explanation], numbers: Mapping[str, int]) -> str:
    reason = explained(difference, known)
    return f" ([{numbers[reason.why]}](#reasons))" if reason else " **(no reason)**"


def _cell(result: Result, name: str, mark: str) -> str:
    row = result.rows.get(name)
    if row is None:
        return f"did not run{mark}"
    state = "" if row.passed else f"**{row.state}** "
    before = f", {result.before[name]:.1f} s" if name in result.before else ""
    return f"{state}{row.seconds:.1f} s{before}{mark}"


def reasons(known: Iterable[Explanation]) -> Iterator[str]:
    for number, one in enumerate(known, 1):
        yield f"{number}. {one.why}"


def stayed(rows: Iterable[Row]) -> Iterator[str]:
    """The webhook's reasons, without the names of containers, and the number of tests with a pod of that reason."""
    count: Counter[str] = Counter()
    for row in rows:
        count.update({re.sub(r'container "[^"]*"', "container", reason) for reason in row.stayed})
    yield "| the webhook's reason | tests |"
    yield "|---|---|"
    for reason, number in sorted(count.items()):
        yield f"| {_escaped(reason)} | {number} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
