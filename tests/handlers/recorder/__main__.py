"""`python -m tests.handlers.recorder FILE ...` records the cases of each file anew, with the kubelet's own handlers.

A file of `made` is written from its module; of any other file only the ``expect`` of cases changes whose answer is
another one than before, and the program names these cases.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.handlers.recorder.answer import answer, merged
from tests.handlers.recorder.kubelet import GoMissingError
from tests.handlers.recorder.kubelets import Kubelets
from tests.handlers.recorder.made import MADE, RELEASE, RELEASES
from tests.handlers.recorder.unlike import is_unlike, question, settled
from tests.kubelet.recorder.release import KubeletRelease, NoReleaseError
from tests.support.paths import BUILD, HANDLER_CASES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.handlers.recorder", description=__doc__)
    known = [HANDLER_CASES / "own" / "grpc.jsonl", *(HANDLER_CASES / name for name in MADE)]
    parser.add_argument("file", nargs="*", type=Path, help="default: the files below own/, and those of code")
    parser.add_argument(
        "--kubelet",
        metavar="VERSION",
        help=f"another release, which is asked the cases of {RELEASE} that are named, or all",
    )
    asked = parser.parse_args()
    files: list[Path] = asked.file
    try:
        if asked.kubelet is None:
            for release, of_release in groupby(files or known, key=release_of):
                with Kubelets(release) as kubelets:
                    for path in of_release:
                        record(path, release, kubelets)
        else:
            ask_again(files or default_files(), KubeletRelease(asked.kubelet))
    except (GoMissingError, NoReleaseError) as error:
        parser.error(str(error))
    return 0


def default_files() -> list[Path]:
    """The files of the default release."""
    return [path for path in sorted(HANDLER_CASES.rglob("*.jsonl")) if release_of(path).version == RELEASE]


def release_of(path: Path) -> KubeletRelease:
    """The release that records a file."""
    return KubeletRelease(RELEASES.get(path.parent.name, RELEASE))


def record(path: Path, release: KubeletRelease, kubelets: "Kubelets") -> None:
    before = {raw["name"]: raw for raw in lines(path)}
    name = path.resolve().relative_to(HANDLER_CASES).as_posix()
    inputs = MADE[name]() if name in MADE else before.values()
    expects = {name: {"expect": raw["expect"]} for name, raw in before.items() if "expect" in raw}
    # Cases of the default release do not name it.
    named = {} if release.version == RELEASE else {"kubernetes": release.name}
    cases = [{**raw, **named, **expects.get(raw["name"], {})} for raw in inputs]
    now = [merged(raw, again) for raw, again in zip(cases, kubelets.asked(cases, path.parent), strict=True)]
    write(path, now)
    others = [(was, is_now) for was, is_now in zip(cases, now, strict=True) if "expect" in was and was != is_now]
    for was, is_now in others:
        say(f"{is_now['name']}: {answer(was['expect'])} -> {answer(is_now['expect'])}")
    new = sum("expect" not in was for was in cases)
    say(f"{path}: {len(now) - new - len(others)} of {len(now)} cases as before, {new} new")


def ask_again(files: Sequence[Path], release: KubeletRelease) -> None:
    """Record the cases with another release, all of them below build/, and in its folder what it answers otherwise."""
    out, unlike = BUILD / f"answers-{release.version}", list[dict[str, Any]]()
    with Kubelets(release) as kubelets:
        for path in files:
            before = list(lines(path))
            again = kubelets.asked([question(case, release) for case in before], path.parent)
            now = [settled(was, is_now) for was, is_now in zip(before, again, strict=True)]
            write(out / path.relative_to(HANDLER_CASES), now)
            others = [is_now for was, is_now in zip(before, now, strict=True) if is_unlike(was, is_now)]
            unlike += others
            say(f"{path.name}: {len(others)} of {len(now)} cases are answered otherwise than by {RELEASE}")
    if unlike:
        write(HANDLER_CASES / f"release_{release.minor.replace('.', '_')}" / "unlike.jsonl", unlike)


def write(path: Path, cases: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(raw) + "\n" for raw in cases))


def lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from (json.loads(line) for line in path.read_text().splitlines())


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
