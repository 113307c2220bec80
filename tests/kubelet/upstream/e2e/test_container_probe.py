"""kubernetes test/e2e/common/node/container_probe.go in virtual time: rows X1 to X23 without X13.

Each row runs for a regular container and for a sidecar. Scripts answer the HTTP, TCP and gRPC probes, because the tests
of the handlers cover real answers. X3, X5, X13, X18 and X22 also run with real processes.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from probelet.policy.protocol.inputs import Terminate
from probelet.spec.model.pod import Pod

from tests.kubelet.upstream.node import Answer, Life, OnePodNode, always, make_pod, until

FOUR_MINUTES = 240
MINUTE = 60
KINDS = ("container", "sidecar")


def make(kind: str, **fields: Any) -> Pod:
    """A pod whose container ``app`` has these fields; a sidecar has another container beside it."""
    spec = {name: fields.pop(name) for name in ("terminationGracePeriodSeconds",) if name in fields}
    app = {"name": "app", **fields}
    if kind == "sidecar":
        return make_pod({"name": "main"}, init=[{**app, "restartPolicy": "Always"}], **spec)
    return make_pod(app, **spec)


def probe(*, delay: int = 0, timeout: int = 1, period: int = 10, threshold: int = 3, **fields: Any) -> dict[str, Any]:
    figures = {"initialDelaySeconds": delay, "timeoutSeconds": timeout, "periodSeconds": period}
    return {"exec": {"command": ["probe"]}, **figures, "failureThreshold": threshold, **fields}


@dataclass(frozen=True)
class Case:
    """A row about restarts. ``answers`` is by probe type. ``restarts`` is the least number of them; 0 means none."""

    id: str
    name: str
    probes: dict[str, Any]
    answers: dict[str, Answer]
    restarts: int
    seconds: float = FOUR_MINUTES
    pod: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


ONCE = {"delay": 15, "threshold": 1}
BAD = "failure: HTTP probe failed with statuscode: 500"
IGNORES_SIGTERM = 1e9

CASES = [
    Case(
        "X3", "exec liveness", {"liveness": probe(timeout=5, **ONCE)}, {"liveness": until(10, "success", "failure")}, 1
    ),
    Case("X4", "exec liveness that stays well", {"liveness": probe(timeout=5, **ONCE)}, {}, 0),
    Case("X5", "/healthz", {"liveness": probe(**ONCE)}, {"liveness": until(10, "success", BAD)}, 1),
    Case("X6", "tcp", {"liveness": probe(**ONCE)}, {"liveness": always("success")}, 0),
    Case(
        "X7",
        "restart counts",
        {"liveness": probe(delay=5, threshold=1)},
        {"liveness": until(10, "success", BAD)},
        5,
        seconds=(2 + 4 + 8) * MINUTE,
    ),
    Case("X8", "/", {"liveness": probe(delay=15, timeout=5, threshold=5)}, {}, 0),
    Case("X9", "exec timeout", {"liveness": probe(**ONCE)}, {"liveness": always("timeout")}, 1),
    Case(
        "X11", "failing exec longer than its timeout", {"liveness": probe(**ONCE)}, {"liveness": always("timeout")}, 1
    ),
    Case("X12", "local redirect", {"liveness": probe(**ONCE)}, {"liveness": until(10, "success", BAD)}, 1),
    Case(
        "X14",
        "startup fails",
        {"startup": probe(delay=15), "liveness": probe(**ONCE)},
        {"startup": always("failure")},
        1,
    ),
    Case(
        "X15",
        "startup delays liveness",
        {"startup": probe(delay=15, threshold=60), "liveness": probe(**ONCE)},
        {"startup": always("failure"), "liveness": always("failure")},
        0,
    ),
    Case(
        "X16",
        "liveness after startup",
        {"startup": probe(delay=15, threshold=60), "liveness": probe(**ONCE)},
        {"startup": until(10, "failure", "success"), "liveness": always("failure")},
        1,
    ),
    Case(
        "X18",
        "liveness grace",
        {"liveness": probe(delay=10, threshold=1, terminationGracePeriodSeconds=5)},
        {"liveness": always("failure: connection refused")},
        1,
        seconds=FOUR_MINUTES + 40,
        pod={"terminationGracePeriodSeconds": 500},
        options={"kill_takes": IGNORES_SIGTERM},
    ),
    Case(
        "X19",
        "startup grace",
        {"startup": probe(delay=10, threshold=1, terminationGracePeriodSeconds=5), "liveness": probe(delay=15)},
        {"startup": always("failure")},
        1,
        seconds=FOUR_MINUTES + 40,
        pod={"terminationGracePeriodSeconds": 500},
        options={"kill_takes": IGNORES_SIGTERM},
    ),
    Case("X20", "gRPC", {"liveness": probe(timeout=5, **ONCE)}, {}, 0),
    Case(
        "X21",
        "gRPC wrong port",
        {"liveness": probe(delay=60, timeout=5, threshold=1)},
        {"liveness": always("timeout")},
        1,
    ),
]


def observed(case: Case, kind: str) -> OnePodNode:
    fields = {f"{name}Probe": body for name, body in case.probes.items()}
    answers = {f"app/{name}": answer for name, answer in case.answers.items()}
    node = OnePodNode(make(kind, **fields, **case.pod), answers, **case.options)
    node.run_until(case.seconds)
    return node


@pytest.mark.parametrize(
    ("case", "kind"), [pytest.param(case, kind, id=f"{case.id}-{case.name}-{kind}") for case in CASES for kind in KINDS]
)
def test_a_container_restarts_as_often_as_its_probes_fail(case: Case, kind: str) -> None:
    node = observed(case, kind)
    if case.restarts:
        assert node.restarts("app") >= case.restarts
    else:
        assert node.restarts("app") == 0
    counts = [count for _, name, count in node.starts if name == "app"]
    assert counts == list(range(len(counts))), "a restart count never decreases"


def by_id(id: str) -> Case:
    return next(case for case in CASES if case.id == id)


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"X15-liveness waits-{kind}") for kind in KINDS])
def test_the_liveness_probe_does_not_run_before_startup_has_passed(kind: str) -> None:
    node = observed(by_id("X15"), kind)
    assert node.ran("app/liveness") == []
    assert len(node.ran("app/startup")) > 20


@pytest.mark.parametrize(
    ("id", "kind"), [pytest.param(id, kind, id=f"{id}-to the second-{kind}") for id in ("X18", "X19") for kind in KINDS]
)
def test_a_container_that_ignores_sigterm_gets_the_grace_of_its_probe(id: str, kind: str) -> None:
    node = observed(by_id(id), kind)
    (_, kill), *_ = node.kills
    assert (kill.grace_seconds, kill.grace_source) == (5, "probe")
    assert node.ends[0][0] - node.kills[0][0] == 5


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"X1-{kind}") for kind in KINDS])
def test_a_pod_is_not_ready_before_the_initial_delay_of_its_readiness_probe(kind: str) -> None:
    node = OnePodNode(make(kind, readinessProbe=probe(delay=15)))
    node.run_until(FOUR_MINUTES)
    ((ready_at, ready),) = node.ready
    started_at = next(at for at, name, _ in node.starts if name == "app")
    assert ready
    # The API keeps startedAt in whole seconds, and the first run is at the tick after the delay.
    assert 14 < ready_at - started_at <= 15 + 10
    assert node.restarts("app") == 0


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        *(pytest.param("failure", kind, id=f"X2-refused-{kind}") for kind in KINDS),
        *(pytest.param("timeout", kind, id=f"X10-exec timeout-{kind}") for kind in KINDS),
    ],
)
def test_a_pod_whose_readiness_fails_is_never_ready(answer: str, kind: str) -> None:
    delay = 15 if answer == "timeout" else 0
    body = probe(delay=delay, threshold=1 if answer == "timeout" else 3)
    node = OnePodNode(make(kind, readinessProbe=body), {"app/readiness": always(answer)})
    node.run_until(MINUTE)
    assert node.ready == []
    assert node.restarts("app") == 0
    assert len(node.ran("app/readiness")) > 2


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"X17-{kind}") for kind in KINDS])
def test_a_pod_is_ready_right_after_its_startup(kind: str) -> None:
    body = make(kind, startupProbe=probe(period=5, threshold=120), readinessProbe=probe(period=30))
    node = OnePodNode(body, {"app/startup": until(32, "failure", "success")})
    node.run_until(FOUR_MINUTES)
    started_at = next(at for at, name, started in node.started_changes if name == "app" and started)
    ((ready_at, _),) = node.ready
    # A sidecar's pod also waits for the container that starts after it.
    assert 0 <= ready_at - started_at <= 2
    assert started_at > 32


def ending(life: Life) -> str:
    return "failure" if life.ending else "success"


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"X22-{kind}") for kind in KINDS])
def test_readiness_is_lost_while_the_pod_ends(kind: str) -> None:
    body = make(kind, readinessProbe=probe(delay=5, period=2, threshold=1), terminationGracePeriodSeconds=30)
    node = OnePodNode(body, {"app/readiness": ending}, kill_takes={"app": IGNORES_SIGTERM})
    node.run_until(MINUTE)
    node.handle(Terminate())
    node.run_until(3 * MINUTE)
    (_, was), (lost_at, now) = node.ready
    assert (was, now) == (True, False)
    told_at = next(at for at, kill in node.kills if kill.name == "app")
    ended_at = next(at for at, name in node.ends if name == "app")
    assert told_at < lost_at <= told_at + 2 + 0.1 < ended_at
    assert node.gone


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"X23-{kind}") for kind in KINDS])
def test_a_liveness_failure_restarts_nothing_while_the_pod_ends(kind: str) -> None:
    probes = {
        "readinessProbe": probe(delay=5, period=2, threshold=1),
        "livenessProbe": probe(delay=5, period=1, threshold=1),
    }
    body = make(kind, **probes, terminationGracePeriodSeconds=30)
    answers = {"app/readiness": ending, "app/liveness": ending}
    node = OnePodNode(body, answers, kill_takes={"app": 20, "main": 0})
    node.run_until(MINUTE)
    node.handle(Terminate())
    node.run_until(2 * MINUTE)
    assert [ready for _, ready in node.ready] == [True, False]
    assert not any("failed liveness probe" in message for message in node.killing())
    if kind == "container":
        assert max(node.ran("app/liveness")) <= MINUTE
        assert not any("Liveness" in message for _, message in node.unhealthy)
    else:
        # Before 1.38 StopLivenessAndStartup spares sidecars: the probe fails with an event, and no restart follows.
        assert any("Liveness" in message for _, message in node.unhealthy)
    assert node.restarts("app") == 0
