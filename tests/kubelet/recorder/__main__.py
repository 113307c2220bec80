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
from pathlib import Path
from random import SystemRandom

from probelet.replay import load
from probelet.replay.conformance import conformance

from tests.kubelet.recorder.scenarios import scenario_of

HERE = Path(__file__).parent
TOGETHER = 500
"""How many scenarios are recorded and judged at a time."""
RUNS = (4, 40, 400)
"""How often the kubelet's prober plays each scenario, then each scenario that probelet still plays otherwise."""
TRACES_MAX = 4
"""A scenario with more traces has three choices of Go's scheduler or more."""
RACY_SHARE = 0.1
"""The largest share of scenarios that may be left out."""


def main() -> int:
    asked = arguments()
    seed = SystemRandom().randrange(1_000_000_000) if asked.seed is None else asked.seed
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    program = asked.out.resolve() / "kubelet.test"
    subprocess.run(["go", "test", "-c", "-o", program, "."], cwd=HERE / "kubelet", check=True)
    say(f"scenarios {seed} to {seed + asked.count - 1}, through the kubelet's prober")
    racy, different = 0, 0
    for first in range(seed, seed + asked.count, TOGETHER):
        numbers = range(first, min(first + TOGETHER, seed + asked.count))
        scenarios = asked.out / str(first)
        unlike, left_out = [f"generated_{number}" for number in numbers], 0
        for runs in RUNS:
            write(scenarios, unlike)
            recordings = record(program, scenarios, runs)
            left_out += len(unlike) - len(list(recordings.iterdir()))
            unlike = judged(recordings)
        wrong = [name for name in unlike if is_settled(recordings / f"{name}.json")]
        racy += left_out + len(unlike) - len(wrong)
        different += len(wrong)
        for name in wrong:
            shutil.copy(recordings / f"{name}.json", asked.out)
            say(f"{name} differs")
        shutil.rmtree(scenarios)
    say(f"{racy} of {asked.count} left out: too many orders of Go's scheduler ({racy / asked.count:.1%})")
    compared = asked.count - racy
    say(f"{compared - different} of {compared} scenarios equal, or equal to a variant")
    return 1 if different or racy > RACY_SHARE * asked.count else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.kubelet.recorder", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many scenarios (default: 500)")
    parser.add_argument("--seed", type=int, help="number of the first scenario (default: another one each time)")
    parser.add_argument("--out", type=Path, default=Path("build/recorder"), help="default: build/recorder")
    if shutil.which("go") is None:
        parser.error("no go found; it builds the kubelet's prober")
    return parser.parse_args()


def write(scenarios: Path, names: list[str]) -> None:
    """Write these scenarios, and only them, into the folder."""
    shutil.rmtree(scenarios, ignore_errors=True)
    scenarios.mkdir()
    for name in names:
        number = int(name.removeprefix("generated_"))
        (scenarios / f"{name}.json").write_text(json.dumps(scenario_of(number)))


def record(program: Path, scenarios: Path, runs: int) -> Path:
    """Have the kubelet's prober play the scenarios; returns the folder of the recordings."""
    recordings = scenarios / "recordings"
    recordings.mkdir()
    # A goroutine that the runtime interrupts, because the machine is busy, would lose its turn.
    settings = {"IN": f"{scenarios.resolve()}", "OUT": f"{recordings.resolve()}", "GODEBUG": "asyncpreemptoff=1"}
    if any(scenarios.glob("*.json")):
        command = [program, "-test.timeout=0", "-test.run", "TestRecord"]
        settings["RUNS"] = str(runs)
        subprocess.run(command, cwd=HERE / "kubelet", env=os.environ | settings, stdout=subprocess.DEVNULL, check=True)
    return recordings


def judged(recordings: Path) -> list[str]:
    """The names of the recordings that probelet does not play alike."""
    report = conformance(recordings)
    for line in report.refused:
        say(line)
    refused = {Path(line.split(":")[0]).stem for line in report.refused}
    return sorted({finding.name for finding in report.different} | refused)


def is_settled(recording: Path) -> bool:
    """Whether the scenario has few traces, and the recorder saw none of them only once."""
    variants = load(recording).variants
    return len(variants) < TRACES_MAX and all(variant.count > 1 for variant in variants)


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
