"""Renders a trace as lines for a person, and differences side by side."""

from typing import Any

import msgspec

from probelet_conformance.difference import Difference
from probelet_conformance.recording import Line, Recording, Trace

SECTIONS_SHOWN = ("inputs", "probes", "results", "events")
"""Sections of the story; updates and statuses follow from results and inputs."""


def story(recording: Recording, trace: Trace) -> str:
    """The scenario and its events, one line per moment."""
    scenario = recording.scenario
    moments = [
        (line["t_ms"], order, _sentence(section, line))
        for order, section in enumerate(SECTIONS_SHOWN)
        for line in trace.get(section, [])
    ]
    lines = [f"{_moment(t_ms)}  {text}" for t_ms, _, text in sorted(moments)]
    return "\n".join([f"{scenario.name}: {scenario.description}", *lines])


def differences_text(recording: Recording, differences: list[Difference]) -> str:
    """The first difference of each section, the kubelet's line above ours."""
    lines = [f"different  {recording.scenario.name}"]
    for difference in differences:
        lines.append(f"  {difference.section}[{difference.index}]")
        lines.append(f"    kubelet   {_json(difference.expected)}")
        lines.append(f"    probelet  {_json(difference.got)}")
    return "\n".join(lines)


def _sentence(section: str, line: Line) -> str:
    match section:
        case "probes":
            worker = f"{line['pod']}/{line['container']}/{line['type']}"
            took = line["end_ms"] - line["t_ms"]
            return f"probe    {worker} attempt {line['attempt']}: {line['outcome']} after {took} ms"
        case "results":
            verdict = line.get("result", "")
            silent = "" if line["changed"] else " (unchanged)"
            return f"result   {line['op']} {line['type']} of {line['container_id']} {verdict}{silent}".rstrip()
        case "events":
            return f"event    {line['reason']}: {line['message']}"
        case _:
            return f"input    {line['call']} {line.get('pod', '')} (by {line.get('cause', 'op')})"


def _moment(t_ms: int) -> str:
    return f"{t_ms / 1000:9.3f} s"


def _json(value: Any) -> str:
    return "(no such line)" if value is None else msgspec.json.encode(value, order="sorted").decode()
