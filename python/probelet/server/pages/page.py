"""The status page in HTML: the status document and the last events, for a person with a browser."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from probelet.server.document.event import RecordedEvent
from probelet.server.pages.page_assets import SCRIPT, STYLE
from probelet.server.summary import (
    PROBE_TYPES,
    Mark,
    foreign,
    mistake,
    more_mistakes,
    outdated,
    pod_trouble,
    probe_mark,
    restarts,
    span,
    state,
    trouble,
)

__all__ = ["SCRIPT", "STYLE", "render_page"]

# A browser gets slow long before the service does; the JSON document holds the whole node.
PODS_MAX = 500
EVENTS_MAX = 30

_RIGHT = ' class="num"'
_NOT_READY = {"Running": ("warn", "not ready"), "Failed": ("bad", "Failed")}
_CHIP = {"good": "good", "failing": "warn", "bad": "bad", "recovering": "warn", "error": "warn", "pending": ""}
_SAYS = {
    "good": "passes",
    "failing": "fails",
    "bad": "failed",
    "recovering": "recovers",
    "error": "has a prober error",
    "pending": "not run yet",
}


def render_page(status: dict[str, Any], events: Sequence[RecordedEvent]) -> str:
    """Renders the page. Pods that are not ready come first; every text of the document is escaped."""
    as_of = datetime.fromisoformat(status["as_of"])
    pods = sorted(status["pods"], key=lambda pod: pod["ready"] or pod["phase"] == "Succeeded")
    ready = sum(pod["ready"] for pod in pods)
    node = escape(status["node"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{ready}/{len(pods)} ready · {node} · probelet</title>
<noscript><meta http-equiv="refresh" content="5"></noscript>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>probelet <span class="dim">on</span> {node}</h1>
<span class="dim push" id="as-of">as of <time datetime="{escape(status["as_of"])}">{as_of:%H:%M:%S} UTC</time></span>
<button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
<p id="lost" role="status" hidden>The service does not answer; the figures below are out of date.</p>
</header>
<main>
<div id="live">
{_tiles(pods)}
{_mistakes(status)}<h2 id="pods">Pods</h2>
{_pods(pods, as_of)}
<h2 id="events">Last events</h2>
{_events(events[-EVENTS_MAX:], as_of)}
</div>
<footer class="dim">Also here: <a href="/metrics">/metrics</a>, <a href="/metrics/probes">/metrics/probes</a>,
<a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>; without a browser this page is JSON.</footer>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _tiles(pods: list[dict[str, Any]]) -> str:
    containers = [container for pod in pods for container in pod["containers"]]
    tiles = [
        ("pods", len(pods)),
        ("ready", sum(pod["ready"] for pod in pods)),
        ("waiting", sum(container["state"] == "waiting" for container in containers)),
        ("restarts", sum(container["restart_count"] for container in containers)),
    ]
    return f'<ul class="tiles">{"".join(f"<li><b>{number}</b>{name}</li>" for name, number in tiles)}</ul>'


def _mistakes(status: dict[str, Any]) -> str:
    """The section about mistakes of the manifests, where there are any."""
    chip = '<td class="nowrap"><span class="chip bad">error</span></td>'
    errors = status.get("manifest_errors", ())
    rows = [f'<tr>{chip}<td class="text">{escape(mistake(error))}</td></tr>' for error in errors]
    if not rows:
        return ""
    table = _table("manifests", ("", "Mistake"), rows, "")
    more = more_mistakes(status)
    others = f'<p class="dim">and {more} more in the manifests</p>' if more else ""
    return f'<h2 id="manifests">Mistakes in the manifests</h2>\n{table}{others}\n'


def _table(labelled_by: str, heads: Iterable[str], rows: list[str], nothing: str) -> str:
    if not rows:
        return f'<div class="scroll"><p class="none dim">{nothing}</p></div>'
    columns = "".join(f'<th scope="col"{_RIGHT if head == "Restarts" else ""}>{head}</th>' for head in heads)
    return (
        f'<div class="scroll" role="region" aria-labelledby="{labelled_by}" tabindex="0"><table>'
        f"<thead><tr>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _pods(pods: list[dict[str, Any]], as_of: datetime) -> str:
    rows = [row for pod in pods[:PODS_MAX] for row in _pod_rows(pod, as_of)]
    table = _table(
        "pods", ("Pod", "Ready", "Container", "State", "Restarts", "Probes", "Trouble"), rows, "This node has no pods."
    )
    more = len(pods) - PODS_MAX
    return table + (f'<p class="dim">and {more} more pods in the JSON document</p>' if more > 0 else "")


def _pod_rows(pod: dict[str, Any], as_of: datetime) -> Iterable[str]:
    containers = pod["containers"]
    lines = f' rowspan="{len(containers)}"' if len(containers) > 1 else ""
    chip, word = ("good", "ready") if pod["ready"] else _NOT_READY.get(pod["phase"], ("", pod["phase"]))
    ready = f'<span class="chip {chip}">{escape(word)}</span>'
    where = escape(" · ".join(part for part in (pod["namespace"], pod["ip"]) if part))
    note = outdated(pod)
    old = f'<small class="chip warn" title="{escape(note)}">earlier manifest</small>' if note else ""
    name = f'{escape(pod["name"])}<small class="dim">{where}</small>{old}'
    head = f'<th scope="rowgroup"{lines}>{name}</th><td{lines}>{ready}</td>'
    if not containers:
        yield f'<tr>{head}<td colspan="5"></td></tr>'
    for index, container in enumerate(containers):
        of_pod = [*foreign(pod), *pod_trouble(pod)] if index == 0 else []
        yield f"<tr>{head if index == 0 else ''}{_container_cells(container, as_of, of_pod)}</tr>"


def _container_cells(container: dict[str, Any], as_of: datetime, of_pod: list[str]) -> str:
    """``of_pod`` are the sentences about the whole pod, which stand at its first container."""
    kind = "" if container["kind"] == "regular" else f' <span class="dim">{escape(container["kind"])}</span>'
    chip = {"running": "good" if container["ready"] else "", "waiting": "warn", "terminated": ""}[container["state"]]
    if container["state"] == "terminated" and container["exit_code"]:
        chip = "bad"
    notes = "".join(f"<p>{escape(sentence)}</p>" for sentence in [*of_pod, *trouble(container, as_of)])
    probes = container["probes"]
    chips = "".join(_probe_chip(name, probes[name], as_of) for name in PROBE_TYPES if name in probes)
    return (
        f'<td>{escape(container["name"])}{kind}</td><td class="nowrap">'
        f'<span class="chip {chip}">{escape(state(container, as_of))}</span></td>'
        f'<td class="num nowrap">{escape(restarts(container, as_of))}</td><td>{chips}</td><td class="text">{notes}</td>'
    )


def _probe_chip(name: str, probe: dict[str, Any], as_of: datetime) -> str:
    mark: Mark = probe_mark(probe)
    last = probe["last"]
    title = f"{probe['handler']}, {probe['runs']} runs, {probe['failures']} failures, {probe['errors']} errors"
    if last is not None:
        ago = span((as_of - datetime.fromisoformat(last["at"])).total_seconds())
        title += f"; last {ago} ago in {last['duration_ms']:g} ms, {last['lateness_ms']:g} ms late"
    count = f" {mark.count}" if mark.count else ""
    return (
        f'<span class="chip {_CHIP[mark.sign]}" title="{escape(title)}">{escape(name)} {_SAYS[mark.sign]}{count}</span>'
    )


def _events(events: Sequence[RecordedEvent], as_of: datetime) -> str:
    rows = []
    for event in reversed(events):
        ago = span((as_of - datetime.fromisoformat(event["at"])).total_seconds())
        chip = "warn" if event["type"] == "Warning" else ""
        times = f" {event['count']} times" if event["count"] > 1 else ""
        rows.append(
            f'<tr><td class="nowrap dim">{ago} ago</td><td class="nowrap">'
            f'<span class="chip {chip}">{escape(event["reason"])}</span>{times}</td>'
            f'<td>{escape(str(event["object"]))}</td><td class="text">{escape(event["message"])}</td></tr>'
        )
    return _table("events", ("When", "Reason", "Pod", "Message"), rows, "Nothing has happened yet.")
