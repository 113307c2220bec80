"""The events of a play and their causes, as sentences."""

from collections.abc import Iterator, Mapping

from probelet.base.words import count, seconds, times
from probelet.lab.simulate.playing import Played
from probelet.lab.simulate.trouble import Trouble
from probelet.lab.simulate.verdict import outages

TOLD_MAX = 3
"""Workloads that get sentences of their own."""


def findings(played: Played, troubles: list[Trouble], names: Mapping[str, str]) -> list[str]:
    """The sentences, the most important first. ``names`` has what people call each workload."""
    found: list[str] = []
    for trouble in troubles[:TOLD_MAX]:
        found += _workload(played, trouble, names[trouble.workload])
    if len(troubles) > TOLD_MAX:
        found.append(f"{count(len(troubles) - TOLD_MAX, 'more workload')} had trouble.")
    if not played.history.faults:
        found.append("No fault of this scenario strikes anything in these manifests.")
    if not troubles:
        found.append("Nothing left its Service, nothing was killed, no request was lost.")
    found += [f"{names[name]} was not ready when the traffic began." for name in played.late]
    return found


def _workload(played: Played, trouble: Trouble, name: str) -> Iterator[str]:
    yield from _dark(played, trouble, name)
    if not any(container.probes for container in played.templates[trouble.workload].containers):
        yield f"No container of {name} has a probe, so nothing notices what happens to it."
    if trouble.left:
        yield _left(trouble, name)
    if trouble.exits:
        yield f"Containers of {name} ended by themselves {times(trouble.exits)}."
    for (container, probe_type), kills in trouble.kills.most_common():
        failures = trouble.failures.get((container, probe_type))
        why = f", because {failures.words}" if failures is not None else ""
        first = seconds(trouble.first_kills[container, probe_type])
        yield f"The {probe_type} probe of {name}/{container} killed it {times(kills)}, first at {first}{why}."
    if trouble.unready_at_end:
        pods = count(trouble.unready_at_end, "pod")
        yield f"{pods} of {name} {'is' if trouble.unready_at_end == 1 else 'are'} not ready at the end."


def _dark(played: Played, trouble: Trouble, name: str) -> Iterator[str]:
    spans = [
        span
        for service in played.history.services
        if service.workload == trouble.workload
        for span in outages(service, played.began)
    ]
    if spans:
        start, end = max(spans, key=lambda span: span[1] - span[0])
        long = "to the end" if end >= played.history.now else f"for {seconds(end - start)}"
        more = f", and {count(len(spans) - 1, 'shorter time')}" if len(spans) > 1 else ""
        yield f"No request to {name} was served from {seconds(start)} on {long}{more}."


def _left(trouble: Trouble, name: str) -> str:
    first = seconds(trouble.left[0])
    failures = next((each for (_, type_), each in trouble.failures.items() if type_ == "readiness"), None)
    why = f", because {failures.words}" if failures is not None else ""
    return f"Replicas of {name} left their Service {times(len(trouble.left))}, first at {first}{why}."
