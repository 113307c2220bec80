"""`python -m tests.handlers.recorder FILE ...` records the cases of each file anew, with the kubelet's own handlers.

A file of `made` is written from its module; of any other file only the ``expect`` of cases changes whose answer is
another one than before, and the program names these cases.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.handlers.recorder.kubelet import GoMissingError, Kubelet, build
from tests.handlers.recorder.made import MADE, RELEASE, RELEASES
from tests.handlers.recorder.record import recorded
from tests.kubelet.recorder.release import KubeletRelease, NoReleaseError
from tests.support.paths import HANDLER_CASES

TOGETHER = 4
"""Cases played at once; more would delay the probes."""
ANSWER = ("result", "class", "output", "output_base64", "error", "connections", "received")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.handlers.recorder", description=__doc__)
    known = [HANDLER_CASES / "own" / "grpc.jsonl", *(HANDLER_CASES / name for name in MADE)]
    parser.add_argument("file", nargs="*", type=Path, default=known, help="default: the files below own/")
    files: list[Path] = parser.parse_args().file
    for release, of_release in groupby(files, key=release_of):
        try:
            program = build(release)
        except (GoMissingError, NoReleaseError) as error:
            parser.error(str(error))
        with ExitStack() as stack:
            kubelets: SimpleQueue[Kubelet] = SimpleQueue()
            for _ in range(TOGETHER):
                kubelets.put(stack.enter_context(Kubelet(program)))
            for path in of_release:
                record(path, release, kubelets)
    return 0


def release_of(path: Path) -> KubeletRelease:
    """The release that records a file."""
    return KubeletRelease(RELEASES.get(path.parent.name, RELEASE))


def record(path: Path, release: KubeletRelease, kubelets: "SimpleQueue[Kubelet]") -> None:
    def play(raw: dict[str, Any]) -> dict[str, Any]:
        kubelet = kubelets.get()
        try:
            return recorded(raw, path.parent, kubelet)
        finally:
            kubelets.put(kubelet)

    before = {raw["name"]: raw for raw in lines(path)}
    name = path.resolve().relative_to(HANDLER_CASES).as_posix()
    inputs = MADE[name]() if name in MADE else before.values()
    expects = {name: {"expect": raw["expect"]} for name, raw in before.items() if "expect" in raw}
    # Cases of the default release do not name it.
    named = {} if release.version == RELEASE else {"kubernetes": release.name}
    cases = [{**raw, **named, **expects.get(raw["name"], {})} for raw in inputs]
    with ThreadPoolExecutor(TOGETHER) as pool:
        now = [merged(raw, again) for raw, again in zip(cases, pool.map(play, cases), strict=True)]
    path.write_text("".join(json.dumps(raw) + "\n" for raw in now))
    others = [(was, is_now) for was, is_now in zip(cases, now, strict=True) if "expect" in was and was != is_now]
    for was, is_now in others:
        say(f"{is_now['name']}: {answer(was['expect'])} -> {answer(is_now['expect'])}")
    new = sum("expect" not in was for was in cases)
    say(f"{path}: {len(now) - new - len(others)} of {len(now)} cases as before, {new} new")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from (json.loads(line) for line in path.read_text().splitlines())


def merged(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The case as it was, if its answer is one that was seen before. What has ever varied may vary again."""
    known, seen = before.get("expect"), now["expect"]
    if known is None:
        return now
    varies = [
        *known.get("varies", ()),
        *(name for name in seen.get("varies", ()) if name not in known.get("varies", ())),
    ]
    told = {key: value for key, value in answer(seen).items() if key not in varies}
    answers = [answer(known | variant) for variant in [{}, *known.get("variants", ())]]
    is_known = any(told == {key: value for key, value in one.items() if key not in varies} for one in answers)
    return {**now, "expect": {**(known if is_known else seen), **({"varies": varies} if varies else {})}}


def answer(expect: dict[str, Any]) -> dict[str, Any]:
    """The part of ``expect`` that a run decides, as far as it is compared."""
    told = {key: value for key, value in expect.items() if key in ANSWER}
    if "received" in told:
        told["received"] = {name: [compared(row) for row in rows or ()] for name, rows in told["received"].items()}
    return told


def compared(row: dict[str, Any]) -> Any:
    return row.get("bytes") or [frame for frame in row.get("h2", ()) if frame["type"] in ("HEADERS", "DATA")]


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
