"""A document's runs as tracks: faults, requests, and for each pod its states, kills and attempts."""

from itertools import groupby

from probelet.lab.picture.attempts import MARKS, attempts
from probelet.lab.picture.document import PodRow, RunRow, ScenarioRow, ServiceRow, SimulateDocument
from probelet.lab.picture.perfetto.packets import Packets
from probelet.lab.picture.wording import runs_of

RATES = ("offered", "served", "late", "lost")


def trace(document: SimulateDocument) -> bytes:
    """The trace of a document. Its clock begins at the beginning of the simulation."""
    packets = Packets()
    scenario, runs = document["scenario"], runs_of(document)
    for run in runs:
        name = scenario["name"] if len(runs) == 1 else f"{scenario['name']}: {', '.join(run['manifests'])}"
        root = packets.track(name)
        _faults(packets, root, scenario)
        for service in run["services"]:
            _service(packets, root, service)
        _pods(packets, root, run)
    return packets.encoded()


def _faults(packets: Packets, root: int, scenario: ScenarioRow) -> None:
    # Faults may overlap, and the slices of one track may not.
    for fault in scenario["faults"]:
        track = packets.track(f"fault: {fault['target']}", root)
        end = scenario["duration_seconds"] if fault["to_seconds"] is None else fault["to_seconds"]
        packets.slice(track, fault["from_seconds"], end, fault["label"], ("kind", fault["kind"]))


def _service(packets: Packets, root: int, service: ServiceRow) -> None:
    series = service["series"]
    parent = packets.track(f"Service {service['name']}", root)
    for name in RATES:
        track = packets.track(name, parent, unit="requests/s")
        for at, value in zip(series["t"], series[name], strict=True):  # type: ignore[literal-required]
            packets.count(track, at, value)
    for name, values in (("endpoints", series["endpoints"]), ("wanted", series["wanted"])):
        track = packets.track(name, parent, unit="pods")
        for at, value in zip(series["t"], values, strict=True):
            packets.count(track, at, value)


def _pods(packets: Packets, root: int, run: RunRow) -> None:
    for workload, pods in groupby(run["pods"], lambda pod: pod["workload"]):
        parent = packets.track(workload, root)
        for pod in pods:
            _pod(packets, parent, pod)


def _pod(packets: Packets, parent: int, pod: PodRow) -> None:
    track = packets.track(pod["name"], parent)
    for span in pod["spans"]:
        notes = ("node", pod["node"]), ("version", pod["version"])
        packets.slice(track, span["from_seconds"], span["to_seconds"], span["state"], *notes)
    if pod["kills"] or pod["exits"]:
        ends = packets.track("kills and exits", track)
        for kill in pod["kills"]:
            message = ("container", kill["container"]), ("message", kill["reason_text"])
            packets.instant(ends, kill["at_seconds"], f"killed by the {kill['probe_type']} probe", *message)
        for row in pod["exits"]:
            code = ("container", row["container"]), ("exit_code", row["exit_code"])
            packets.instant(ends, row["at_seconds"], row["reason"], *code)
    for probe in pod["probes"]:
        line = packets.track(f"{probe['container']} {probe['type']}", track)
        for attempt in attempts(probe):
            details = ("cause", attempt.cause), ("timeout_seconds", probe["timeout_seconds"])
            packets.slice(line, attempt.at, attempt.at + attempt.took, MARKS[attempt.mark], *details)
