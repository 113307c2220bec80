"""``python -m tests.upstream`` plays the runs that it is given, or all, and judges the latest run of each side.

It writes the runs into tests/upstream/results and docs/upstream-e2e.md, and ends with 1 if a test is red or slower than
native without a reason in explanations.yaml. A run that breaks off keeps nothing, the others go on, and the end is 1.
``--render`` plays nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tests.cluster.cluster import what_is_missing as missing_for_a_cluster
from tests.cluster.installed import IMAGE
from tests.support.paths import ROOT
from tests.upstream.explanation import explained, explanations
from tests.upstream.judge import differences
from tests.upstream.page import PAGE, rendered
from tests.upstream.programs import Programs, build
from tests.upstream.report import read as read_report
from tests.upstream.row import Row, read, write
from tests.upstream.run import play
from tests.upstream.selection.selection import Selection, selection
from tests.upstream.side import Side

PROCESSES = 6
"""Most tests only wait, so two cores stand so many."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
    parser.add_argument("sides", nargs="*", type=Side, default=list(Side), metavar="native|taken-over|enhanced|served")
    parser.add_argument("--render", action="store_true", help="only judge the runs that are kept, and write the page")
    parser.add_argument("--focus", help="play only tests of this name, and keep nothing", metavar="REGEX")
    parser.add_argument("--procs", type=int, default=PROCESSES, help="tests at a time", metavar="N")
    options = parser.parse_args()
    if not options.render:
        if why := what_is_missing(options.sides):
            sys.stderr.write(f"upstream's tests cannot be played here: {why}\n")
            return 1
        complete = play_all(options.sides, options.focus, options.procs)
        if options.focus:
            return 0 if complete else 1
        if not complete:
            judge()
            return 1
    return judge()


def what_is_missing(sides: Sequence[Side]) -> str:
    """The reason in one line why these runs cannot be played, before anything is built for minutes; empty for none."""
    if why := missing_for_a_cluster():
        return why
    if absent := [program for program in ("cc", "git", "go") if shutil.which(program) is None]:
        return f"no {', '.join(absent)}"
    needs_image = any(side in (Side.TAKEN, Side.ENHANCED) for side in sides)
    return f"no {IMAGE}, which `make image` makes" if needs_image and not IMAGE.exists() else ""


def play_all(sides: Sequence[Side], focus: str | None, processes: int) -> bool:
    """Plays one run after another. Returns whether each came to its end and, with ``focus``, whether all passed."""
    programs, complete = build(), True
    commit = subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, text=True).strip()
    for side in sides:
        try:
            rows = _play(side, programs, focus, processes)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            sys.stderr.write(f"{side.shown}: the run broke off: {error}\n")
            complete = False
            continue
        if focus is None:
            write(side, commit, round(os.getloadavg()[2], 1), processes, rows)
        else:
            complete &= all(row.passed for row in rows)
    return complete


def _play(side: Side, programs: Programs, focus: str | None, processes: int) -> list[Row]:
    chosen = Selection((focus,), ()) if focus else selection()
    rows = read_report(play(side, programs, chosen, processes))
    if side is Side.SERVED:
        rows = [row.handed_over() for row in rows]
    for row in rows:
        if focus or not row.passed:
            sys.stdout.write(f"{side.shown}: {row.state} {row.seconds:.1f} s {row.name}\n")
    return rows


def judge() -> int:
    results, known = {side: read(side) for side in Side}, explanations()
    found = list(differences(results))
    PAGE.write_text(rendered(PAGE.read_text(), results, found, known))
    unexplained = [one for one in found if explained(one, known) is None]
    for one in unexplained:
        more = f" by {one.seconds} s" if one.seconds else ""
        sys.stdout.write(f"{one.side.shown}: {one.kind}{more} without a reason: {one.name} ({one.words})\n")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
