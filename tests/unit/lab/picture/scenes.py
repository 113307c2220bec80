"""Simulations as a scenario would leave them."""

from probelet.lab.picture.document import AdviceRow, FaultRow, PodRow, PodState, SimulateDocument
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.picture.documents import answers, document, pod, probe, requests, service, spans, verdict


def _slow() -> list[FaultRow]:
    return [
        {
            "kind": "dependency slow",
            "target": "auth",
            "label": "auth answers in 1.5 s",
            "from_seconds": 60.0,
            "to_seconds": 150.0,
        }
    ]


def slow_dependency() -> SimulateDocument:
    """Three replicas whose readiness and liveness ask one dependency: all leave at once, and are killed."""
    totals = requests(180_000, 8_402, 36_137)
    points = [
        (0.0, 300, 0, 300, 0, 3),
        (15.2, 300, 0, 0, 3, 3),
        (60.0, 300, 300, 0, 3, 3),
        (83.0, 300, 200, 60, 2, 3),
        (84.7, 300, 60, 180, 1, 3),
        (86.4, 300, 0, 300, 0, 3),
        (190.5, 300, 60, 120, 1, 3),
        (192.6, 300, 40, 0, 2, 3),
        (196.0, 300, 0, 0, 3, 3),
    ]
    found = verdict(
        recovers_after_seconds=43.7,
        first_unready_seconds=82.0,
        unready_pods_max=3,
        first_kill_seconds=93.0,
        kills=6,
        restarts=9,
        requests=totals,
        longest_outage_seconds=104.1,
    )
    return document(
        "dependency-slow",
        "A shared dependency becomes slow",
        600.0,
        _slow(),
        [_killed_pod(n, suffix, 600.0) for n, suffix in enumerate(("4xk2p", "9vbnq", "tz7cd"))],
        [service(points, totals)],
        found,
        [
            "All 3 replicas of Deployment/default/web left their Service within 3.4 s, from 82 s on: the readiness"
            " probe asks auth, which took 1.5 s; the timeout is 1 s.",
            "The liveness probe asks auth too: it killed every replica twice, and each began with an empty cache.",
            "104 s without any endpoint: 36,137 requests were lost, although the program itself was well.",
        ],
        _advice(),
        text="From 60 s on every answer of the dependency auth takes 1.5 s, for 90 s. The readiness and liveness probes"
        " of Deployment/default/web are taken to ask it. Each Service gets 300 requests per second.",
    )


def _killed_pod(n: int, suffix: str, end: float) -> PodRow:
    out, kill = 82.0 + 1.7 * n, 93.0 + 2.1 * n
    life = spans(
        end,
        ("pending", 0.0),
        ("starting", 1.2 + 0.1 * n),
        ("ready", 14.0 + n),
        ("unready", out),
        ("terminating", kill),
        ("starting", kill + 2),
        ("unready", kill + 16),
        ("terminating", kill + 40),
        ("starting", kill + 42),
        ("back_off", kill + 60),
        ("starting", kill + 80),
        ("ready", kill + 96.5),
    )
    probes = [
        probe("readiness", 1.0, 10.0, answers(12.0 + n, end, 10.0, 1.0, [(60.0, 150.0)])),
        probe("liveness", 1.0, 10.0, answers(13.5 + n, end, 10.0, 1.0, [(62.0, 150.0)])),
    ]
    kills: list[tuple[float, ProbeType]] = [(kill, "liveness"), (kill + 40, "liveness")]
    exits = [(kill + 2, 143), (kill + 42, 143), (kill + 60, 1)]
    return pod(
        f"default/web-6d4cf56db6-{suffix}",
        life,
        probes,
        kills,
        node=f"node-{n + 1}",
        exits=[{"at_seconds": at, "container": "app", "exit_code": code, "reason": "Error"} for at, code in exits],
        restarts=3,
    )


def _advice() -> list[AdviceRow]:
    without = verdict(
        recovers_after_seconds=12.0,
        first_unready_seconds=82.0,
        unready_pods_max=3,
        requests=requests(180_000, 8_900, 23_100),
        longest_outage_seconds=77.0,
    )
    container = "spec.template.spec.containers[0]"
    return [
        {
            "id": "probe-asks-dependency",
            "object": "Deployment/default/web",
            "path": f"{container}.livenessProbe",
            "old": "{httpGet: {path: /healthz, port: 8080}}",
            "new": "",
            "why": "A restart cannot mend auth; without the liveness probe nothing is killed.",
            "verdict": without,
        },
        {
            "id": "timeout-below-dependency",
            "object": "Deployment/default/web",
            "path": f"{container}.readinessProbe.timeoutSeconds",
            "old": "1",
            "new": "3",
            "why": "An answer in 1.5 s is late and no reason to leave the Service.",
            "verdict": verdict(requests=requests(180_000, 27_000, 0)),
        },
    ]


def healthy() -> SimulateDocument:
    """The same, and nobody notices."""
    end = 600.0
    pods = [
        pod(
            f"default/web-7f9cd5b4c8-{suffix}",
            spans(end, ("pending", 0.0), ("starting", 1.0 + n / 10), ("ready", 14.0 + n)),
            [probe("readiness", 3.0, 10.0, answers(12.0 + n, end, 10.0, 3.0, []))],
        )
        for n, suffix in enumerate(("b2xkq", "m8s4v", "zz9pl"))
    ]
    rates = service(
        [(0.0, 300, 0, 0, 3, 3), (60.0, 300, 300, 0, 3, 3), (150.0, 300, 0, 0, 3, 3)], requests(180_000, 27_000, 0)
    )
    found = verdict(requests=requests(180_000, 27_000, 0))
    return document("dependency-slow", "A shared dependency becomes slow", end, _slow(), pods, [rates], found)


def bad_rollout(count: int = 60) -> SimulateDocument:
    """Half of the pods are of a version that never starts up; the rollout stops."""
    end, old = 1_200.0, count // 2 + 4
    removed = old // 4
    pods = [_old_pod(n, end, 330.0 + 300.0 * n / old if n < removed else None) for n in range(old)]
    pods += [_new_pod(n, end, 300.0 + 300.0 * (n - old) / count) for n in range(old, count)]
    kept = old - removed
    totals = requests(1_080_000, 240_000, 12_000)
    points = [
        (0.0, 900, 0, 900, 0, old),
        (12.0, 900, 0, 200, 8, old),
        (20.0, 900, 0, 0, old, old),
        (360.0, 900, 250, 0, kept + 4, old),
        (420.0, 900, 420, 30, kept, old),
    ]
    found = verdict(
        recovered=False,
        recovers_after_seconds=None,
        first_unready_seconds=330.0,
        unready_pods_max=removed,
        first_kill_seconds=331.0,
        kills=sum(len(row["kills"]) for row in pods),
        restarts=sum(row["restarts"] for row in pods),
        requests=totals,
    )
    fault: FaultRow = {
        "kind": "bad version",
        "target": "Deployment/default/web",
        "label": "rollout of version 2, which never starts up",
        "from_seconds": 300.0,
        "to_seconds": None,
    }
    title = "A version that never starts up is rolled out"
    return document("bad-rollout", title, end, [fault], pods, [service(points, totals)], found)


def _old_pod(n: int, end: float, gone: float | None) -> PodRow:
    states: list[tuple[PodState, float]] = [("pending", 0.0), ("starting", 1.0), ("ready", 12.0 + n % 8)]
    if gone is not None:
        states += [("terminating", gone), ("gone", gone + 8)]
    rows = answers(12.0 + n % 8, end if gone is None else gone, 10.0, 1.0, [])
    return pod(f"default/web-aaaa-{n:04}", spans(end, *states), [probe("readiness", 1.0, 10.0, rows)])


def _new_pod(n: int, end: float, begin: float) -> PodRow:
    states: list[tuple[PodState, float]] = [("pending", begin), ("starting", begin + 1)]
    kills: list[tuple[float, ProbeType]] = []
    rows = []
    at, delay = begin + 1.0, 10.0
    while at + 34 + delay < end:
        rows += [(at + 10 * k, 0.001, "f", "refused") for k in range(1, 4)]
        kills.append((at + 30, "startup"))
        states += [("terminating", at + 30), ("back_off", at + 32), ("starting", at + 32 + delay)]
        at += 32.0 + delay
        delay = min(300.0, 2 * delay)
    name = f"default/web-bbbb-{n:04}"
    return pod(name, spans(end, *states), [probe("startup", 1.0, 10.0, rows)], kills, version=2)


def crash_loop(seconds: float = 86_400.0) -> SimulateDocument:
    """A container whose memory runs out once an hour, for a day, and one that never starts up."""
    states: list[tuple[PodState, float]] = [("pending", 0.0), ("starting", 1.0), ("ready", 20.0)]
    ends = [3_600.0 * n for n in range(1, int(seconds / 3_600 - 0.1))]
    for at in ends:
        states += [("starting", at), ("ready", at + 25)]
    leaking = pod(
        "shop/cart-0",
        spans(seconds, *states),
        [probe("liveness", 1.0, 10.0, answers(20.0, seconds, 120.0, 1.0, []))],
        workload="StatefulSet/shop/cart",
        exits=[{"at_seconds": at, "container": "app", "exit_code": 137, "reason": "OOMKilled"} for at in ends],
        restarts=len(ends),
    )
    broken = _new_pod(0, seconds, 0.0)
    broken["name"], broken["workload"] = "shop/search-5b9d9c7b8-xw2lm", "Deployment/shop/search"
    attempts = broken["probes"][0]["attempts"]
    # A run of answers that say no, and an error of the prober.
    attempts["outcome"] = attempts["outcome"][:30] + "f" * 30 + "e" + attempts["outcome"][61:]
    attempts["cause"][30:61] = ["status"] * 30 + ["starved"]
    found = verdict(
        recovered=False,
        recovers_after_seconds=None,
        first_kill_seconds=31.0,
        unready_pods_max=1,
        kills=len(broken["kills"]),
        restarts=broken["restarts"] + len(ends),
    )
    return document("leak", "Memory leaks, and a container never starts", seconds, [], [leaking, broken], [], found)


def empty() -> SimulateDocument:
    """Manifests without a pod."""
    return document("gc-pause", "Garbage collection pauses the program", 600.0, [], [], [], verdict(), text="")
