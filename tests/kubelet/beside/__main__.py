"""`python -m tests.kubelet.beside` plays static pods on the real kubelet and on probelet, and prints what differs.

The pods that differ without a line on docs/kubelet-parity.md are played again: a difference counts if it comes in every
round. The command exits with 1 if such a difference is left.
"""

import argparse
import os
import sys
from pathlib import Path

from tests.cluster.binaries.build import version
from tests.kubelet.beside.build import build, what_is_missing
from tests.kubelet.beside.pods import PODS
from tests.kubelet.beside.round import SIDES, play_round
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.sides.apiserver import PROGRAMS
from tests.kubelet.beside.verdict.finding import NODE_ITSELF, Finding, findings
from tests.kubelet.beside.verdict.listed import LISTED
from tests.kubelet.beside.verdict.report import rows, table


def main() -> int:
    asked = _arguments()
    if why := what_is_missing():
        _say(f"skipped: needs {why}")
        return 0
    build()
    assets = Path(os.environ["KUBEBUILDER_ASSETS"]) if asked.api_server else None
    names = asked.pods or list(PODS)
    _say(f"{len(names)} pods on the kubelet {version()} and on probelet{' with an API server' if assets else ''}")
    out = asked.out.resolve()
    found: list[Finding] = []
    for number in range(1, asked.rounds + 1):
        folder = out / f"round-{number}"
        play_round(folder, names, assets)
        again = _compared(folder)
        found = again if number == 1 else recurring(found, again)
        unlisted = [one for one in found if not one.listed]
        names = sorted({one.pod for one in unlisted} - {NODE_ITSELF})
        _say(
            f"round {number}: {len(unlisted)} of {len(found)} differences are not on the parity page: {' '.join(names)}"
        )
        if not names:
            break
    _say(*table(asked.pods or list(PODS), found), "", *rows(found), "")
    return verdict(found)


def _compared(folder: Path) -> list[Finding]:
    sides = [Side(folder / side) for side in SIDES]
    paces = ", ".join(f"{side.name} {side.pace:.1f}" for side in sides)
    _say(f"{folder.name}: how many times as long as on an idle machine a start takes: {paces}")
    return findings(*sides)


def recurring(before: list[Finding], again: list[Finding]) -> list[Finding]:
    """The findings apart from the unlisted ones that did not come again."""
    unlisted = {one.key for one in again if not one.listed}
    return [one for one in before if one.listed or one.key in unlisted or one.pod == NODE_ITSELF]


def verdict(found: list[Finding]) -> int:
    used = {anchor for one in found for anchor in one.listed}
    for anchor in sorted({rule.anchor for rule in LISTED} - used):
        _say(f"listed, but nothing differed: {anchor}")
    unlisted = sum(not one.listed for one in found)
    _say(f"{len(found)} differences, {unlisted} of them not on docs/kubelet-parity.md")
    return 1 if unlisted else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kubelet.beside", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="how often a difference has to come (default: 3)")
    parser.add_argument("--pods", nargs="*", choices=sorted(PODS), metavar="POD", help="default: all")
    parser.add_argument(
        "--api-server", action="store_true", help="the kubelet uses the API server of KUBEBUILDER_ASSETS"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/beside"), help="folder for the notes; default: build/beside"
    )
    asked = parser.parse_args()
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    if asked.api_server and not all((Path(assets) / program).is_file() for program in PROGRAMS):
        parser.error(f"no {' or '.join(PROGRAMS)} in KUBEBUILDER_ASSETS={assets}")
    return asked


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
