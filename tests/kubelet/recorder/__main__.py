"""`python -m tests.kubelet.recorder` plays random scenarios through the kubelet's own prober, then through probelet."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import SystemRandom

from tests.kubelet.recorder.scenarios import scenario_of

HERE = Path(__file__).parent


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kubelet.recorder", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many scenarios (default: 500)")
    parser.add_argument("--seed", type=int, help="number of the first scenario (default: another one each time)")
    parser.add_argument("--out", type=Path, default=Path("build/recorder"), help="default: build/recorder")
    asked = parser.parse_args()
    if shutil.which("go") is None:
        parser.error("no go found; it builds the kubelet's prober")
    seed = SystemRandom().randrange(1_000_000_000) if asked.seed is None else asked.seed
    scenarios, recordings = asked.out / "scenarios", asked.out / "recordings"
    for folder in (scenarios, recordings):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for number in range(seed, seed + asked.count):
        (scenarios / f"generated_{number}.json").write_text(json.dumps(scenario_of(number)))
    sys.stderr.write(f"scenarios {seed} to {seed + asked.count - 1}, through the kubelet's prober\n")
    folders = {"IN": str(scenarios.resolve()), "OUT": str(recordings.resolve())}
    command = ["go", "test", "-count=1", "-timeout=0", "-run", "TestRecord", "."]
    recorded = subprocess.run(command, cwd=HERE / "kubelet", env=os.environ | folders, check=False)
    if recorded.returncode:
        return recorded.returncode
    left_out = asked.count - len(list(recordings.iterdir()))
    sys.stderr.write(f"{left_out} left out: races of Go's scheduler\n")
    return subprocess.run([Path(sys.executable).parent / "probelet", "conformance", recordings], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
