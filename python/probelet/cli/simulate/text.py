"""A simulation in the ten lines that a person wants to know, 80 columns wide."""

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Final

from probelet.base.words import count, seconds, share, times
from probelet.lab.picture.document import AdviceRow, FaultRow, RunRow, ServiceRow, SimulateDocument, VerdictRow

COLUMNS: Final = 80
LABEL: Final = 10
FAULTS_MAX: Final = 3
"""Faults that are listed; a scenario may have hundreds."""
SERVICES_MAX: Final = 3
"""Services and assumptions that are listed."""
FINDINGS_MAX: Final = 5
"""Sentences that are shown."""
INCIDENTS_MAX: Final = 3
"""Incidents that are shown: those with most pods."""
ADVICE_MAX: Final = 2
DECISIONS_MAX: Final = 5
"""Reasons of decisions that are listed."""
FIRST: Final = {"--against": "FILE", "--guard": "kubelets"}
"""The rows' name for the first play beside that of a flag."""


_WORDS: Final = {
    "at once": "with the end of the last fault",
    "no fault": "no fault strikes these manifests",
    "unharmed": "nothing to recover from",
}
"""The words for which a line has room, and a table has not."""


def lines(document: SimulateDocument) -> list[str]:
    """The lines about one version of the manifests, or about two side by side."""
    found = list(_head(document))
    other = document.get("against")
    faults = document["scenario"]["faults"]
    found += list(_verdict(document, faults) if other is None else _both(document, other, faults))
    found += list(_labelled("incident", _incidents(document)))
    found += list(_labelled("what", _findings(document)))
    if other is not None:
        found += list(_labelled(flag_of(other).strip("-"), _findings(other)))
        found += list(_labelled("decided", _decided(other)))
    for advice in document["advice"][:ADVICE_MAX]:
        found += list(_advice(advice, document["verdict"]))
    if document["command"]:
        found += list(_labelled("again", [document["command"]], breaks=False))
    return found


def _head(document: SimulateDocument) -> Iterator[str]:
    scenario = document["scenario"]
    yield from wrap(f"{scenario['name']}: {scenario['title']}", COLUMNS)
    yield ""
    yield from _labelled("faults", [_some(list(_timetable(scenario["faults"])), FAULTS_MAX, "more")])
    yield from _labelled("traffic", [_some(list(_traffic(document)), SERVICES_MAX, "more")])
    if assumed := scenario["assumed"]:
        yield from _labelled("assumed", [_some(assumed, SERVICES_MAX, "more")])
    played = document["played_seconds"]
    if played < scenario["duration_seconds"]:
        yield f"interrupted at {seconds(played)} of {seconds(scenario['duration_seconds'])}; so far:"


def _some(parts: list[str], most: int, noun: str, between: str = "; ") -> str:
    left = len(parts) - most
    return between.join([*parts[:most], *([f"{left:,} {noun}"] if left > 0 else [])])


def _timetable(faults: list[FaultRow]) -> Iterator[str]:
    for fault in faults:
        begins, ends = fault["from_seconds"], fault["to_seconds"]
        if ends is None:
            when = f"from {seconds(begins)} on"
        elif ends == begins:
            when = f"at {seconds(begins)}"
        else:
            when = f"from {seconds(begins)} to {seconds(ends)}"
        yield f"{fault['label']}, {when}"


def _traffic(document: SimulateDocument) -> Iterator[str]:
    for service in document["services"]:
        name = service["name"].removeprefix("default/")
        rate = _usual(service, document["scenario"]["duration_seconds"])
        yield f"{rate:,.6g} requests/s to {name}, whose clients wait {seconds(service['timeout_seconds'])}"


def _usual(service: ServiceRow, end: float) -> float:
    """The rate that is offered for the longest time, but for the time before the traffic begins."""
    series = service["series"]
    held: dict[float, float] = {}
    for start, until, rate in zip(series["t"], [*series["t"][1:], end], series["offered"], strict=True):
        if rate:
            held[rate] = held.get(rate, 0.0) + until - start
    return max(held, key=lambda rate: held[rate], default=0.0)


def _findings(run: RunRow) -> list[str]:
    found = run["findings"]
    more = len(found) - FINDINGS_MAX
    return [*found[:FINDINGS_MAX], *([f"{count(more, 'more sentence')} in the JSON."] if more > 0 else [])]


def _incidents(run: RunRow) -> list[str]:
    """A line for the beginning of each incident and one for its end, in the order of time."""
    shown = sorted(run["incidents"], key=lambda row: -row["pods"])[:INCIDENTS_MAX]
    moments: list[tuple[float, str]] = []
    for row in shown:
        thing = f"{row['shared']} {row['value']}".strip()
        name = thing if row["shared"] == row["kind"] else ", ".join(filter(None, (row["kind"], thing)))
        moments.append((row["said_seconds"], f"at {seconds(row['said_seconds'])} {name}: {row['evidence']}"))
        if row["to_seconds"] is not None:
            killed = f"; {times(row['killed'])} killed" if row["killed"] else ""
            useless = f", {row['killed_for_nothing']:,} for nothing" if row["killed_for_nothing"] else ""
            moments.append((row["to_seconds"], f"at {seconds(row['to_seconds'])} {name}: over{killed}{useless}"))
    more = len(run["incidents"]) - len(shown)
    return [text for _, text in sorted(moments)] + ([f"{count(more, 'smaller incident')} in the JSON"] if more else [])


def flag_of(other: RunRow) -> str:
    """The flag that asked for the second play."""
    return "--guard" if "guard" in other else "--against"


def _decided(run: RunRow) -> list[str]:
    """How often enhanced liveness decided what; nothing for a run without it."""
    decisions = run["guard"]["decisions"] if "guard" in run else {}
    texts = [f"{reason} {times:,}" for reason, times in decisions.items()]
    return [_some(texts, DECISIONS_MAX, "more reasons", ", ")] if texts else []


def _verdict(run: RunRow, faults: list[FaultRow]) -> Iterator[str]:
    for label, text in _rows(run, faults):
        yield from _labelled(label, [text])


def _both(run: RunRow, other: RunRow, faults: list[FaultRow]) -> Iterator[str]:
    """The rows of two versions, one under the other where they differ."""
    flag = flag_of(other)
    for (label, ours), (_, theirs) in zip(_rows(run, faults), _rows(other, faults), strict=True):
        if ours == theirs:
            yield from _labelled(label, [f"{ours} (both)"])
        else:
            yield from _labelled(label, [f"{FIRST[flag]}: {ours}", f"{flag}: {theirs}"])


def _rows(run: RunRow, faults: list[FaultRow]) -> Iterator[tuple[str, str]]:
    verdict = run["verdict"]
    yield "unready", _unready(run)
    yield "killed", _killed(verdict)
    yield "requests", _requests(verdict)
    recovered = recovery(verdict, faults)
    harm = "the fault does not end; it does harm " if recovered.startswith("until") else ""
    yield "recovery", _WORDS.get(recovered, f"{harm}{recovered}")


def _unready(run: RunRow) -> str:
    first, most = run["verdict"]["first_unready_seconds"], run["verdict"]["unready_pods_max"]
    wanted = sum(max(service["series"]["wanted"], default=0) for service in run["services"])
    if first is None:
        return f"at most {most} of {count(wanted, 'replica')} missing" if most else "no replica left its Service"
    return f"{most} of {count(wanted, 'replica')} at the same time; the first at {seconds(first)}"


def _killed(verdict: VerdictRow) -> str:
    restarts = count(verdict["restarts"], "restart")
    if verdict["first_kill_seconds"] is None:
        return "nothing" + (f"; {restarts}" if verdict["restarts"] else "")
    return f"{count(verdict['kills'], 'time')}, the first at {seconds(verdict['first_kill_seconds'])}; {restarts}"


def _requests(verdict: VerdictRow) -> str:
    requests = verdict["requests"]
    if not requests["offered"]:
        return "there is no Service with traffic"
    lost, offered = requests["lost"], requests["offered"]
    text = f"{lost:,} of {offered:,} lost ({share(lost, offered)})" if lost else f"none of {offered:,} lost"
    text += f", {requests['late']:,} late" if requests["late"] else ""
    outage = verdict["longest_outage_seconds"]
    return f"{text}; none was served for {seconds(outage)}" if outage else text


def recovery(verdict: VerdictRow, faults: list[FaultRow]) -> str:
    """When the services were whole again, counted from the end of the last fault."""
    after = verdict["recovers_after_seconds"]
    if not faults:
        return "no fault"
    if after is None:
        return "never"
    if not (verdict["unready_pods_max"] or verdict["kills"] or verdict["requests"]["lost"]):
        return "unharmed"
    if lasting := [fault["from_seconds"] for fault in faults if fault["to_seconds"] is None]:
        return f"until {seconds(max(lasting) + after)}"
    return f"after {seconds(after)}" if after else "at once"


def _advice(advice: AdviceRow, base: VerdictRow) -> Iterator[str]:
    also = advice.get("also", [])
    # Of several containers the field alone would not say which.
    short = (lambda path: path.rpartition("spec.")[2]) if also else _short
    for row in (advice, *also):
        change = f"{row['old']} -> {row['new']}" if row["old"] else row["new"]
        kind, _, name = row["object"].split("/")
        yield from _labelled("change" if row is advice else "and", [f"{short(row['path'])} of {kind} {name}: {change}"])
    yield from _labelled("", [f"then {gain(advice['verdict'], base)}; {advice['why']}"])


def _short(path: str) -> str:
    """The end of a path that a person looks for: ``readinessProbe.timeoutSeconds``."""
    return path.rpartition("].")[2] or path


def gain(verdict: VerdictRow, base: VerdictRow) -> str:
    """Returns the gain of a change in words: ``no request is lost, not 18,300; no kill, not 9``."""
    lost, before = verdict["requests"]["lost"], base["requests"]["lost"]
    shown = f"{lost:,} requests are lost" if lost else "no request is lost"
    parts = [f"{shown}, not {before:,}" if lost != before else f"still {shown}"]
    if verdict["kills"] != base["kills"]:
        parts.append(f"{count(verdict['kills'], 'kill')}, not {base['kills']:,}")
    if not verdict["recovered"]:
        parts.append("it never recovers")
    elif not base["recovered"]:
        parts.append("it recovers")
    return "; ".join(parts)


def _labelled(label: str, texts: Iterable[str], *, breaks: bool = True) -> Iterator[str]:
    """Texts behind a label, each from a line of its own on."""
    for text in texts:
        parts = wrap(text, COLUMNS - LABEL, break_long_words=False, break_on_hyphens=False) if breaks else [text]
        for part in parts:
            yield f"{label:<{LABEL}}{part}"
            label = ""
