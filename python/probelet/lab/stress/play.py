"""Plays scenes: a virtual one here, a real one in a process of its own."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from probelet._rust import version
from probelet.base import package_root
from probelet.errors import ProbeletError
from probelet.lab.stress.outcome import Outcome, judge, shortened
from probelet.lab.stress.scene import Scene
from probelet.lab.stress.virtual import SceneNode
from probelet.spec.text.duration import SECOND

RESTARTS_MAX: Final = 20_000
"""A virtual scene with more restarts is played for a shorter time. Twenty thousand take about ten seconds."""


class StressError(ProbeletError):
    """A scene that could not be played; one line."""


def play_virtual(scene: Scene, seconds: float) -> Outcome:
    """Play a scene in virtual time."""
    until = shortened(scene, round(seconds * SECOND), RESTARTS_MAX)
    node = SceneNode(scene)
    node.run_until(until)
    return judge(scene, node.gate, node.sink, until, node.end())


def play_real(scene: Scene, seconds: float, warm_up: float, repeat: int = 1) -> Outcome:
    """Play a scene for real, ``repeat`` times; returns the run whose CPU time per restart is the median.

    Raises:
        StressError: a run failed.
    """
    outcomes = sorted((_in_a_process(scene, seconds, warm_up) for _ in range(repeat)), key=_cpu)
    middle = outcomes[(repeat - 1) // 2]
    if middle.cost is None:
        return middle
    ends = (_cpu(outcomes[0]), _cpu(outcomes[-1]))
    return replace(middle, cost=replace(middle.cost, cpu_ms_per_restart_range=ends))


def _in_a_process(scene: Scene, seconds: float, warm_up: float) -> Outcome:
    order = msgspec.json.encode({"scene": scene, "seconds": seconds, "warm_up": warm_up})
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "probelet.lab.stress"],
        input=order,
        capture_output=True,
        check=False,
        env=package_root.environment(),
    )
    if ended.returncode:
        last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
        raise StressError(f"{scene.name}: {last[0]}")
    return msgspec.json.decode(ended.stdout, type=Outcome)


def _cpu(outcome: Outcome) -> float:
    return outcome.cost.cpu_ms_per_restart if outcome.cost else 0


def machine() -> dict[str, str]:
    """The machine and the version that the figures come from."""
    return {
        "probelet": version(),
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def failures(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each scene that did not do what it must."""
    found = [f"{one.name}: {one.early} restarts were early" for one in outcomes if one.early]
    found += [f"{one.name}: restarts differ from the model" for one in outcomes if one.exact is False]
    kept = [(one.name, one.memory.entries_after_gc) for one in outcomes if one.memory.entries_after_gc]
    return found + [f"{name}: {left} back-off entries outlived their pods" for name, left in kept]
