"""Compares what the example pods did with what they should have done."""

from dataclasses import dataclass, field
from typing import Any

SECONDS = 45
"""Long enough for the third crash and the third kill, so that the back-off visibly doubles."""


@dataclass
class Facts:
    """Collected from every status document of the demo."""

    restarts: dict[str, int] = field(default_factory=dict)
    exit_codes: dict[str, set[int]] = field(default_factory=dict)
    backoffs: dict[str, set[int]] = field(default_factory=dict)
    unready_after_ready: set[str] = field(default_factory=set)
    ready: dict[str, bool] = field(default_factory=dict)
    probes: dict[str, dict[str, Any]] = field(default_factory=dict)
    running_since: dict[str, float] = field(default_factory=dict)
    """Second at which the container was first seen running; a busy machine starts it late."""
    started_after: dict[str, float] = field(default_factory=dict)
    """Seconds from then until ``started`` was first seen."""

    def look(self, status: dict[str, Any], second: float) -> None:
        for pod in status["pods"]:
            name, container = pod["name"], pod["containers"][0]
            self.restarts[name] = container["restart_count"]
            self.probes[name] = container["probes"]
            if container["last_exit"]:
                self.exit_codes.setdefault(name, set()).add(container["last_exit"]["exit_code"])
            if container["backoff"] and container["state"] != "running":
                self.backoffs.setdefault(name, set()).add(round(container["backoff"]["delay_seconds"]))
            if self.ready.get(name) and not container["ready"]:
                self.unready_after_ready.add(name)
            self.ready[name] = container["ready"]
            if container["state"] == "running":
                self.running_since.setdefault(name, second)
            if container["started"]:
                self.started_after.setdefault(name, second - self.running_since.get(name, second))


@dataclass(frozen=True)
class Row:
    name: str
    expected: str
    seen: str
    good: bool


def rows(facts: Facts) -> list[Row]:
    return [_web(facts), _slow_starter(facts), _deadlock(facts), _worker(facts), _crash_looper(facts)]


def _web(facts: Facts) -> Row:
    unready = "web" in facts.unready_after_ready
    restarts, ready = facts.restarts.get("web"), facts.ready.get("web", False)
    seen = f"{'not ready once' if unready else 'always ready'}, {'ready' if ready else 'not ready'} at the end"
    return Row(
        "web",
        "not ready while its database is away, then ready; never restarted",
        f"{seen}; {_times(restarts)}",
        unready and ready and restarts == 0,
    )


def _slow_starter(facts: Facts) -> Row:
    seconds, restarts = facts.started_after.get("slow-starter"), facts.restarts.get("slow-starter")
    return Row(
        "slow-starter",
        "started after 6 to 10 s; never restarted",
        f"{'never started' if seconds is None else f'started after {seconds:.0f} s'}; {_times(restarts)}",
        seconds is not None and 6 <= seconds <= 10 and restarts == 0,
    )


def _deadlock(facts: Facts) -> Row:
    codes, restarts = facts.exit_codes.get("deadlock", set()), facts.restarts.get("deadlock", 0)
    return Row(
        "deadlock",
        "killed by liveness, with SIGKILL (137), twice or more; restarted",
        f"exit codes {_list(codes)}; {_times(restarts)}",
        codes == {137} and restarts >= 2,
    )


def _worker(facts: Facts) -> Row:
    liveness = facts.probes.get("worker-exec", {}).get("liveness") or {"runs": 0, "failures": 0}
    restarts, runs, failures = facts.restarts.get("worker-exec"), liveness["runs"], liveness["failures"]
    return Row(
        "worker-exec",
        "at least 10 exec probes, none failed; never restarted (a busy machine: a third may fail, three restart it)",
        f"{runs} exec probes, {failures} failed; {_times(restarts)}",
        liveness["runs"] >= 10
        and liveness["failures"] * 3 <= liveness["runs"]
        and _is_due(restarts, liveness["failures"]),
    )


def _is_due(restarts: int | None, failures: int) -> bool:
    """Whether each restart had as many failures before it as the threshold of the example asks for."""
    return restarts is not None and restarts * 3 <= failures


def _crash_looper(facts: Facts) -> Row:
    codes, restarts = facts.exit_codes.get("crash-looper", set()), facts.restarts.get("crash-looper")
    backoffs = sorted(facts.backoffs.get("crash-looper", set()))
    return Row(
        "crash-looper",
        "exit code 1; 3 restarts: free, after 10 s, after 20 s; now 40 s",
        f"exit codes {_list(codes)}; {_times(restarts)}; back-off {_list(backoffs, ' s')}",
        codes == {1} and restarts == 3 and backoffs == [10, 20, 40],
    )


def _times(restarts: int | None) -> str:
    return {None: "not seen", 0: "never restarted", 1: "1 restart"}.get(restarts, f"{restarts} restarts")


def _list(values: set[int] | list[int], unit: str = "") -> str:
    return ", ".join(f"{value}{unit}" for value in sorted(values)) or "none"
