"""The words for a person: the verdict as a sentence, counts, the outcome of a pod, and what runs are called."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from probelet.lab.picture.document import FaultRow, PodRow, RunRow, ScenarioRow, SimulateDocument, SpanRow, VerdictRow
from probelet.lab.picture.scale import duration


def count(value: float, one: str, many: str = "") -> str:
    """A count with its noun: ``1 kill``, ``1,200 restarts``."""
    return f"{value:,.0f} {one if value == 1 else many or one + 's'}"


def share(part: float, whole: float) -> str:
    """A share in percent; never 0 % or 100 % unless it is."""
    if part in (0, whole) or not whole:
        return f"{100 if part and part == whole else 0} %"
    percent = 100 * part / whole
    if percent < 0.01:
        return "under 0.01 %"
    digits = 2 if percent < 1 else 3
    return f"{percent:.{digits}g} %" if percent < 99.95 else "over 99.9 %"


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + "." * (not text.endswith((".", "!", "?")))


def is_untouched(verdict: VerdictRow, *, but_late: bool = False) -> bool:
    """True if the scenario changed nothing that a user or an operator would notice, or nothing but late answers."""
    return (
        verdict["recovered"]
        and verdict["first_unready_seconds"] is None
        and not verdict["kills"]
        and not verdict["restarts"]
        and not verdict["requests"]["lost"]
        and (but_late or not verdict["requests"]["late"])
    )


class Grade(NamedTuple):
    """How well a run ended: the class of its colour, and a sign beside it."""

    css: str
    sign: str


GOOD: Final = Grade("G", "✓")
FAIR: Final = Grade("W", "↻")
BAD: Final = Grade("B", "✗")


def grade(run: RunRow) -> Grade:
    """Good if nobody noticed, fair if it recovered, bad if it did not."""
    if not run["pods"]:
        return FAIR
    if not run["verdict"]["recovered"]:
        return BAD
    return GOOD if is_untouched(run["verdict"]) else FAIR


def headline(run: RunRow, scenario: ScenarioRow) -> str:
    """The verdict in a few words."""
    verdict, after = run["verdict"], run["verdict"]["recovers_after_seconds"]
    if not run["pods"]:
        return "Nothing to simulate: no pods"
    if is_untouched(verdict):
        return "Holds"
    if is_untouched(verdict, but_late=True):
        return "Holds, but answers late"
    if not verdict["recovered"] or after is None:
        return (
            "Never recovers"
            if run["played_seconds"] >= scenario["duration_seconds"]
            else "Interrupted before it recovered"
        )
    if not after:
        return "Recovers as the fault ends" if scenario["faults"] else "Recovers"
    last = max(scenario["faults"], key=end_of, default=None)
    if last is None or last["to_seconds"] in (None, last["from_seconds"]):
        return f"Recovers after {duration(after)}"
    return f"Recovers {duration(after)} after the fault ends"


def end_of(fault: FaultRow) -> float:
    """The moment from which a recovery counts: the end of a fault, of one without an end its beginning."""
    return fault["from_seconds"] if fault["to_seconds"] is None else fault["to_seconds"]


def summary(run: RunRow, scenario: ScenarioRow) -> str:
    """Returns the events and their times in one or two sentences; `figures` has the other numbers."""
    verdict, requests = run["verdict"], run["verdict"]["requests"]
    if not run["pods"]:
        return "The manifests have no pod that this scenario could run."
    if is_untouched(verdict):
        served = f" and all {requests['offered']:,} requests are served in time" if requests["offered"] else ""
        return f"No pod leaves its Service, no container is killed{served}."
    parts = []
    if requests["lost"]:
        parts.append(f"{share(requests['lost'], requests['offered'])} of all requests are lost")
    elif requests["offered"]:
        parts.append("no request is lost")
    if requests["late"]:
        parts.append(f"{share(requests['late'], requests['offered'])} are served late")
    if verdict["longest_outage_seconds"]:
        parts.append(f"none is served for {duration(verdict['longest_outage_seconds'])}")
    if verdict["first_unready_seconds"] is not None:
        parts.append(f"the first replica leaves its Service at {duration(verdict['first_unready_seconds'])}")
    if verdict["first_kill_seconds"] is not None:
        parts.append(f"a probe kills the first container at {duration(verdict['first_kill_seconds'])}")
    if not parts and verdict["restarts"]:
        parts.append(f"{count(verdict['restarts'], 'restart')}, and no pod leaves its Service")
    text = "; ".join(parts)
    end = (
        "" if verdict["recovered"] else f" Still so after {duration(run['played_seconds'])}, when the simulation ends."
    )
    return sentence(text) + end if text else end.strip()


def figures(verdict: VerdictRow) -> list[tuple[str, str]]:
    """The verdict's numbers with their names, in the order in which they matter."""
    requests, after = verdict["requests"], verdict["recovers_after_seconds"]
    offered, outage = requests["offered"], verdict["longest_outage_seconds"]
    return [
        ("recovery", duration(after) if verdict["recovered"] and after is not None else "never"),
        ("requests lost", _part(requests["lost"], offered)),
        ("requests late", _part(requests["late"], offered)),
        ("longest outage", duration(outage) if outage else "none"),
        ("replicas missing", f"{verdict['unready_pods_max']:,}"),
        ("kills by probes", f"{verdict['kills']:,}"),
        ("restarts", f"{verdict['restarts']:,}"),
    ]


def _part(part: int, whole: int) -> str:
    if not whole:
        return "none sent"
    return f"{part:,} ({share(part, whole)})" if part else "0"


def seconds_in(spans: list[SpanRow], *states: str) -> float:
    """The time that a pod spent in some states."""
    return sum(span["to_seconds"] - span["from_seconds"] for span in spans if span["state"] in states)


def outcome(pod: PodRow) -> tuple[str, str, bool]:
    """Returns the outcome of a pod: its last state in words, the numbers, and whether that is well."""
    spans = pod["spans"]
    if not spans:
        return "never ran", "", False
    last = spans[-1]
    was_ready = next((n for n, span in enumerate(spans) if span["state"] == "ready"), None)
    out = 0.0 if was_ready is None else seconds_in(spans[was_ready:], "pending", "starting", "unready", "back_off")
    since = duration(last["from_seconds"])
    match last["state"]:
        case "ready":
            words = "ready again" if out else "ready"
        case "gone":
            words = f"gone at {since}" if was_ready is not None else "gone, never ready"
        case "back_off":
            words = "back-off"
        case "terminating":
            words = f"ending since {since}"
        case state:
            words = f"{state} since {since}" if was_ready is not None else "never ready"
    numbers = [f"out {duration(out)}"] * (out > 0) + [count(pod["restarts"], "restart")] * (pod["restarts"] > 0)
    is_well = last["state"] == "ready" or (last["state"] == "gone" and was_ready is not None)
    return words, ", ".join(numbers), is_well


def names_of(runs: Sequence[RunRow]) -> list[str]:
    """A short name for each run: who decides about kills, or what the paths of the manifests have not in common."""
    if any("guard" in run for run in runs):
        return ["enhanced liveness" if "guard" in run else "each kubelet decides" for run in runs]
    paths = [[PurePath(path).with_suffix("").parts for path in run["manifests"]] for run in runs]
    every = [parts for of_run in paths for parts in of_run]
    start = _shared(every)
    # Two versions of one file, each in a directory of its own, differ in that directory.
    end = _shared([parts[start:][::-1] for parts in every]) if len(runs) > 1 else 0
    if not every or any(len(parts) <= start + end for parts in every):
        end = 0
    if any(len(parts) <= start for parts in every):
        start = min(map(len, every), default=1) - 1
    return [", ".join("/".join(parts[start : len(parts) - end]) or "-" for parts in of_run) for of_run in paths]


def title_of(document: SimulateDocument) -> str:
    """The title of a picture: how it ended, or of several runs what was compared; and what was played."""
    runs = runs_of(document)
    what = headline(document, document["scenario"]) if len(runs) == 1 else " beside ".join(names_of(runs))
    return f"{what}: {document['scenario']['title']}"


def runs_of(document: SimulateDocument) -> list[RunRow]:
    """The runs from top to bottom."""
    return [document, document["against"]] if "against" in document else [document]


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """How many parts all paths have in common at their beginning."""
    count = 0
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        count += 1
    return count
