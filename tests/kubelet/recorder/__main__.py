"""`python -m tests.kubelet.recorder` plays random scenarios through the kubelet's own prober, then through probelet.

A few runs of the kubelet's prober are enough for a scenario that probelet plays alike. A scenario that probelet plays
otherwise may depend on a choice of Go's scheduler, so the kubelet's prober plays it many times more.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import NamedTuple

from probelet_conformance import load
from probelet_conformance.conformance import conformance

from tests.kubelet.recorder import instants
from tests.kubelet.recorder.pods import Made
from tests.kubelet.recorder.release import KubeletRelease, NoReleaseError
from tests.kubelet.recorder.scenarios import scenario_of
from tests.support.paths import BUILD, INSTANTS

HERE = Path(__file__).parent
RELEASE = "1.36.3"
"""The release of kubelet/go.mod, with which the kept recordings were made."""
TOGETHER = 100
"""How many scenarios are recorded and judged at a time."""
RUNS = (4, 12, 40, 400)
"""How often the kubelet's prober plays each scenario, then each scenario that probelet still plays otherwise."""
LAST_RUNS = 4_000
"""How often the kubelet's prober plays a scenario that would count as different: of two orders of Go's timers, each of
which may hold for many ticks, a mixture may be rare."""
TRACES_MAX = 4
"""A scenario with more traces has three choices of Go's scheduler or more."""
RACY_SHARE = 0.1
"""The largest share of scenarios that may be left out."""


class Recorder(NamedTuple):
    """The prober that records, and where its recordings go."""

    program: Path
    release: KubeletRelease
    out: Path
    unlike: str | None
    """The recordings that probelet would play otherwise by the rules of this release are kept too."""


class Judged(NamedTuple):
    """What became of some scenarios in a row."""

    end: int
    """The number after the last one."""
    varied: int
    """How many are equal to one of several traces."""
    racy: list[str]
    """The names of the scenarios with too many traces."""
    different: list[str]
    """The names of the scenarios that differ; their recordings are in the folder ``out``."""
    unlike: list[str]
    """The names of the scenarios that another release plays otherwise; their recordings are in ``out/unlike``."""
    refused: list[str]
    """A line for each recording that the reader refuses."""


def main() -> int:
    asked = arguments()
    seed = SystemRandom().randrange(1_000_000_000) if asked.seed is None else asked.seed
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    recorder = Recorder(
        asked.out.resolve() / "kubelet.test", KubeletRelease(asked.kubelet), asked.out, asked.keep_unlike
    )
    try:
        build(recorder)
    except NoReleaseError as error:
        say(str(error))
        return 2
    if asked.instants:
        record_instants(recorder)
        return 0
    say(f"scenarios {seed} to {seed + asked.count - 1}, through the prober of kubelet {asked.kubelet}")
    varied, racy, different, unlike = 0, 0, 0, 0
    firsts = range(seed, seed + asked.count, TOGETHER)
    ends = [min(first + TOGETHER, seed + asked.count) for first in firsts]
    with ProcessPoolExecutor(asked.processes) as pool:
        for judged in pool.map(partial(judge, recorder), firsts, ends):
            varied += judged.varied
            racy += len(judged.racy)
            different += len(judged.different)
            unlike += len(judged.unlike)
            for line in judged.refused:
                say(line)
            for name in judged.different:
                say(f"{name} differs")
            for name in judged.racy:
                say(f"{name} is left out")
            # An interrupted run has said what it found.
            done = judged.end - seed
            equal = f"{done - racy - different} of {done} equal ({varied} to one of several traces)"
            say(f"to {judged.end - 1}: {equal}, {racy} left out ({racy / done:.1%})")
    if asked.keep_unlike:
        say(f"{unlike} recordings that {asked.keep_unlike} would play otherwise are in {asked.out / 'unlike'}")
    say(f"{racy} of {asked.count} left out: too many orders of Go's scheduler ({racy / asked.count:.1%})")
    compared = asked.count - racy
    say(f"{compared - different} of {compared} scenarios equal, or equal to a variant")
    return 1 if different or racy > RACY_SHARE * asked.count else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kubelet.recorder", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many scenarios (default: 500)")
    parser.add_argument("--seed", type=int, help="number of the first scenario (default: another one each time)")
    parser.add_argument("--kubelet", default=RELEASE, help=f"which published release records (default: {RELEASE})")
    parser.add_argument(
        "--keep-unlike",
        metavar="MINOR",
        help="keep the recordings that this release, such as 1.36, would play otherwise",
    )
    parser.add_argument("--out", type=Path, default=Path("build/recorder"), help="default: build/recorder")
    parser.add_argument("--processes", type=int, help="how many play (default: one per processor)")
    parser.add_argument("--instants", action="store_true", help="record tests/kubelet/instants again, and nothing else")
    if shutil.which("go") is None:
        parser.error("no go found; it builds the kubelet's prober")
    return parser.parse_args()


def build(recorder: Recorder) -> None:
    """Build the program; the prober of another release than the last one takes minutes."""
    module = recorder.release.module(HERE / "kubelet", BUILD)
    # A copy has no go.sum yet; the sums come from the checksum database.
    command = ["go", "test", "-vet=off", "-c", "-mod=mod" if module.parent == BUILD else "-mod=readonly"]
    subprocess.run([*command, "-tags", recorder.release.tag, "-o", recorder.program, "."], cwd=module, check=True)


def judge(recorder: Recorder, first: int, end: int) -> Judged:
    """Record and judge the scenarios from ``first`` up to, and without, ``end``; keep the recordings that differ."""
    scenarios = recorder.out / str(first)
    kept = list[str]()
    unlike, racy, refused = [f"generated_{number}" for number in range(first, end)], list[str](), list[str]()
    varied = 0
    for runs in (*RUNS, LAST_RUNS):
        write(scenarios, {name: scenario_of(int(name.removeprefix("generated_"))) for name in unlike}, recorder.release)
        recordings = record(recorder.program, scenarios, runs)
        racy += [name for name in unlike if not (recordings / f"{name}.json").exists()]
        unlike, refused = unlike_ours(recordings)
        kept += keep_unlike(recorder, recordings, unlike)
        varied += sum(bool(load(path).variants) for path in recordings.iterdir() if path.stem not in unlike)
        if runs >= RUNS[-1]:
            racy += [name for name in unlike if not is_settled(recordings / f"{name}.json")]
            unlike = [name for name in unlike if name not in racy]
    for name in unlike:
        shutil.copy(recordings / f"{name}.json", recorder.out)
    shutil.rmtree(scenarios)
    return Judged(end, varied, racy, unlike, kept, refused)


def keep_unlike(recorder: Recorder, recordings: Path, unsettled: Collection[str]) -> list[str]:
    """Keep the settled recordings that probelet plays otherwise by the rules of the other release; their names."""
    if recorder.unlike is None:
        return []
    names = [one.name for one in conformance(recordings, recorder.unlike).different if one.name not in unsettled]
    (recorder.out / "unlike").mkdir(exist_ok=True)
    for name in sorted(set(names)):
        shutil.copy(recordings / f"{name}.json", recorder.out / "unlike")
    return sorted(set(names))


def record_instants(recorder: Recorder) -> None:
    """Have the kubelet's prober play the scenarios of `instants` most often; replace their recordings."""
    scenarios = recorder.out / "instants"
    write(scenarios, instants.scenarios(), recorder.release)
    shutil.rmtree(INSTANTS, ignore_errors=True)
    shutil.copytree(record(recorder.program, scenarios, RUNS[-1]), INSTANTS)
    shutil.rmtree(scenarios)


def write(scenarios: Path, made: dict[str, Made], release: KubeletRelease) -> None:
    """Write these scenarios by their names, and only them, into the folder, for the prober of a release."""
    shutil.rmtree(scenarios, ignore_errors=True)
    scenarios.mkdir()
    for name, scenario in made.items():
        (scenarios / f"{name}.json").write_text(json.dumps({"kubernetes": release.name, **scenario}))


def record(program: Path, scenarios: Path, runs: int) -> Path:
    """Have the kubelet's prober play the scenarios; returns the folder of the recordings."""
    recordings = scenarios / "recordings"
    recordings.mkdir()
    # A goroutine that the runtime interrupts, because the machine is busy, would lose its turn.
    settings = {"IN": f"{scenarios.resolve()}", "OUT": f"{recordings.resolve()}", "GODEBUG": "asyncpreemptoff=1"}
    if any(scenarios.glob("*.json")):
        command: list[str | Path] = [program, "-test.timeout=0", "-test.run", "TestRecord"]
        settings["RUNS"] = str(runs)
        subprocess.run(command, cwd=HERE / "kubelet", env=os.environ | settings, stdout=subprocess.DEVNULL, check=True)
    return recordings


def unlike_ours(recordings: Path) -> tuple[list[str], list[str]]:
    """The names of the recordings that probelet does not play alike, and a line for each that the reader refuses."""
    report = conformance(recordings)
    refused = {Path(line.split(":")[0]).stem for line in report.refused}
    return sorted({finding.name for finding in report.different} | refused), report.refused


def is_settled(recording: Path) -> bool:
    """Whether the scenario has few traces, and the recorder saw none of them only once."""
    variants = load(recording).variants
    return len(variants) < TRACES_MAX and all(variant.count > 1 for variant in variants)


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
