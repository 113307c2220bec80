"""``python -m tests.upstream`` plays the runs that it is given, or all, and judges the latest run of each side.

It writes the runs into tests/upstream/results and docs/upstream-e2e.md, and ends with 1 if a test is red or slower than
native without a reason in explanations.yaml. ``--render`` plays nothing.
"""

import argparse
import os
import subprocess
import sys

from tests.cluster.cluster import what_is_missing
from tests.support.paths import ROOT
from tests.upstream.explanation import explained, explanations
from tests.upstream.judge import differences
from tests.upstream.page import PAGE, rendered
from tests.upstream.programs import build
from tests.upstream.report import read as read_report
from tests.upstream.row import read, write
from tests.upstream.run import play
from tests.upstream.selection.selection import Selection, selection
from tests.upstream.side import Side

PROCESSES = 6
"""Most tests only wait, so two cores stand so many."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
    parser.add_argument("sides", nargs="*", type=Side, default=list(Side), metavar="native|taken-over|enhanced")
    parser.add_argument("--render", action="store_true", help="only judge the runs that are kept, and write the page")
    parser.add_argument("--focus", help="play only tests of this name, and keep nothing", metavar="REGEX")
    parser.add_argument("--procs", type=int, default=PROCESSES, help="tests at a time", metavar="N")
    options = parser.parse_args()
    if not options.render:
        if why := what_is_missing():
            sys.stderr.write(f"no cluster can run here: {why}\n")
            return 1
        for side in options.sides:
            _play(side, options.focus, options.procs)
        if options.focus:
            return 0
    return judge()


def _play(side: Side, focus: str | None, processes: int) -> None:
    chosen = Selection((focus,), ()) if focus else selection()
    commit = subprocess.check_output(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, text=True).strip()
    out = play(side, build(), chosen, processes)
    rows = read_report(out)
    for row in rows:
        if focus or not row.passed:
            sys.stdout.write(f"{side.shown}: {row.state} {row.seconds:.1f} s {row.name}\n")
    if not focus:
        write(side, commit, round(os.getloadavg()[2], 1), rows)


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
