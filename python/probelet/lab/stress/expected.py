"""The restarts that the model expects of a scene."""

from itertools import count

from probelet._rust import Backoff
from probelet.lab.backoff.curve import Curve
from probelet.lab.backoff.life import Life, restarts
from probelet.lab.stress.pods import probe_delay_seconds
from probelet.lab.stress.scene import Scene
from probelet.spec.text.duration import SECOND

RESTARTS_MAX = 10_000_000


def _table(curve: Curve) -> Backoff:
    """A back-off table as the live node has it, with this curve."""
    return Backoff(
        initial_ns=curve.initial_ns,
        max_ns=curve.max_ns,
        reset_ns=curve.reset_ns,
        factor_milli=round(curve.factor * 1000),
        first_free=curve.first_free,
    )


def expected(scene: Scene, exit_code: int, until_ns: int) -> list[int] | None:
    """When the gate lets a container start again, counted from its first start; None where the model is not exact.

    It is not exact where starts cost time and a pod starts several containers, one after the other; nor where a probe
    kills a container that may have started between two runs of the probe, which come once a second.
    """
    if scene.start_cost_ns and (scene.kill_ns or scene.containers > 1 or scene.policy == "Sidecar"):
        return None
    if scene.kill_ns and (scene.shape.initial_ns % SECOND or scene.shape.max_ns % SECOND):
        return None
    return modelled(scene, exit_code, until_ns)


def modelled(scene: Scene, exit_code: int, until_ns: int) -> list[int]:
    """Returns the same as ``expected``, and about right where the model is not exact."""
    if scene.kill_ns:
        return _probe_kills(scene, until_ns)
    policy = "OnFailure" if scene.policy == "OnFailure" else "Always"
    # A life begins with the decision to start, so what the start costs is a part of it.
    life = Life(run_ns=scene.run_ns + scene.start_cost_ns, exit_code=exit_code, policy=policy)  # type: ignore[arg-type]
    return [restart.at_ns for restart in restarts(scene.shape, life, count=RESTARTS_MAX, until_ns=until_ns)]


def _probe_kills(scene: Scene, until_ns: int) -> list[int]:
    """The gate judges a probe kill by the exit of the life before; after a refusal, the next sync by its own."""
    gate, found = _table(scene.shape), list[int]()
    before: int | None = None
    started, fails_after = 0, probe_delay_seconds(scene) * SECOND

    def decide(now: int, finished: int | None) -> int | None:
        """None if the container starts; otherwise when its start is due."""
        code = None if finished is None else 137
        found = gate.decide("c", now_ns=now, finished_ns=finished, exit_code=code, restart_policy="Always")
        return found.due_ns if found.word == "wait" else None

    for _ in count():
        now = killed = started + scene.start_cost_ns + fails_after
        if decide(now, before) is not None:
            now = decide(now, killed) or now
            decide(now, killed)
        if now > until_ns:
            return found
        found.append(now)
        before, started = killed, now
    return found
