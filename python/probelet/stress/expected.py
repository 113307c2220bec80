"""What the model says a scene should do."""

from itertools import count

from probelet._rust import Backoff
from probelet.backoff.curve import Curve
from probelet.backoff.life import Life, restarts
from probelet.stress.scene import Scene

RESTARTS_MAX = 10_000_000


def _table(curve: Curve) -> Backoff:
    """The live manager's table with this curve."""
    return Backoff(
        initial_ns=curve.initial_ns,
        max_ns=curve.max_ns,
        reset_ns=curve.reset_ns,
        factor_milli=round(curve.factor * 1000),
        first_free=curve.first_free,
    )


def expected(scene: Scene, exit_code: int, until_ns: int) -> list[int] | None:
    """When a container is let start again, from its first start on; None where the model does not reach.

    It does not where starts cost time and a pod starts several containers, one after the other.
    """
    if scene.start_cost_ns and (scene.containers > 1 or scene.policy == "Sidecar"):
        return None
    if scene.kill_ns:
        return _probe_kills(scene, until_ns)
    policy = "OnFailure" if scene.policy == "OnFailure" else "Always"
    # A life is counted from the decision on, and the start is a part of it.
    life = Life(run_ns=scene.run_ns + scene.start_cost_ns, exit_code=exit_code, policy=policy)  # type: ignore[arg-type]
    return [restart.at_ns for restart in restarts(scene.shape, life, count=RESTARTS_MAX, until_ns=until_ns)]


def _probe_kills(scene: Scene, until_ns: int) -> list[int]:
    """A probe kill is judged by the exit of the life before; refused, the next sync judges it by its own."""
    gate, found = _table(scene.shape), list[int]()
    before: int | None = None
    started = 0

    def decide(now: int, finished: int | None) -> int | None:
        """None if it starts, else when it is due."""
        code = None if finished is None else 137
        what, due, *_ = gate.decide("c", now_ns=now, finished_ns=finished, exit_code=code, restart_policy="Always")
        return due if what == "wait" else None

    for _ in count():
        now = killed = started + scene.start_cost_ns + scene.kill_ns
        if decide(now, before) is not None:
            now = decide(now, killed) or now
            decide(now, killed)
        if now > until_ns:
            return found
        found.append(now)
        before, started = killed, now
    return found
