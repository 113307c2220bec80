"""Documents at the limits of their form: as many pods, attempts, points and characters as a simulation may leave."""

from probelet.lab.picture.document import (
    EVENTS_MAX,
    POD_ATTEMPTS_MAX,
    SERIES_POINTS_MAX,
    PodRow,
    PodState,
    SimulateDocument,
)

from tests.unit.lab.picture.documents import HOSTILE, document, pod, probe, requests, run_of, service, spans, verdict

DAY = 86_400.0
LIFE: tuple[PodState, ...] = ("pending", "starting", "ready", "unready", "ready", "terminating", "back_off")


def restless(count: int, attempts: int = 500, changes: int = 280) -> SimulateDocument:
    """Pods that change their states for a day, with probes that end in every way."""
    pods = [_restless_pod(n, attempts, changes) for n in range(count)]
    points = [
        (DAY * n / SERIES_POINTS_MAX, 300.0, 37.0 * (n % 5), 41.0 * (n % 4), n % 7, 7) for n in range(SERIES_POINTS_MAX)
    ]
    totals = requests(25_920_000, 5_000_000, 6_000_000)
    services = [service(points, totals, f"default/web-{n}") for n in range(9)]
    found = verdict(recovered=False, recovers_after_seconds=None, kills=99_999, restarts=99_999, requests=totals)
    return document("restless", "Everything changes", DAY, [], pods, services, found)


def _restless_pod(n: int, attempts: int, changes: int) -> PodRow:
    rest = DAY / (changes + 1)
    states = [(LIFE[(n + k) % len(LIFE)], 11.0 * n % rest + rest * k) for k in range(changes)]
    outcomes = (("s", "ok"), ("t", "header_timeout"), ("f", "refused"), ("f", "status"), ("e", "starved"))
    period = DAY / attempts
    rows = [(period * k, 0.9 * (k * 7 % 11) / 10, *outcomes[(k + n) % 5]) for k in range(attempts)]
    kills = [(at, "liveness") for state, at in states if state == "terminating"]
    probes = [probe("readiness", 1.0, 10.0, rows), probe("liveness", 1.0, 10.0, rows[::2])]
    return pod(f"default/web-{n:05}", spans(DAY, *states), probes, kills)  # type: ignore[arg-type]


def talkative() -> SimulateDocument:
    """A document whose texts are as long and as odd as a manifest can make them, in both of its runs."""
    made = restless(3, POD_ATTEMPTS_MAX)
    long = HOSTILE * 200
    for row in made["pods"]:
        row["name"] = row["node"] = row["workload"] = long
        for kill in row["kills"]:
            kill["reason_text"] = long
    made["findings"] = [long] * 50
    made["advice"] = [
        {"id": "a", "object": long, "path": long, "old": long, "new": long, "why": long, "verdict": made["verdict"]}
    ] * 50
    made["scenario"]["title"] = made["scenario"]["text"] = made["command"] = long
    made["scenario"]["faults"] = [
        {"kind": "k", "target": long, "label": long, "from_seconds": 100.0 * n, "to_seconds": 100.0 * n + 900}
        for n in range(400)
    ]
    made["events"] = [{"at_seconds": 1.0, "pod": long, "reason": long, "message": long}] * EVENTS_MAX
    made["against"] = run_of(made, [long] * 9)
    return made
