"""The picture as one HTML page: the verdict, the drawing for wide and for narrow screens, and what to change.

The page has no script and asks for nothing: its policy forbids the browser to load anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from probelet.lab.picture.document import AdviceRow, ChangeRow, FaultRow, PodRow, RunRow, ScenarioRow, SimulateDocument
from probelet.lab.picture.markup import element, escaped, shortened
from probelet.lab.picture.page_style import RULES
from probelet.lab.picture.scale import duration, moment
from probelet.lab.picture.svg import inline
from probelet.lab.picture.theme import TEXTURES, style, themed
from probelet.lab.picture.timeline import NARROW, WIDE
from probelet.lab.picture.wording import (
    figures,
    grade,
    headline,
    names_of,
    outcome,
    runs_of,
    sentence,
    summary,
    title_of,
)

BYTES_MAX: Final = 200_000
FRAME_BYTES: Final = 1_000
"""The size of the page around its parts."""

FINDINGS_MAX: Final = 8
ADVICE_MAX: Final = 6
PODS_MAX: Final = 40
EVENTS_MAX: Final = 40
CELL_MAX: Final = 100
KILLS_MAX: Final = 5
TEXT_MAX: Final = 300
"""The characters of one text; a longer one is cut, and ``-o json`` has it whole."""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(document: SimulateDocument) -> str:
    """The page; at most `BYTES_MAX` bytes."""
    scenario, runs = document["scenario"], runs_of(document)
    names = names_of(runs)
    above = [*_head(document), _figures(document) if len(runs) == 1 else _comparison(runs)]
    below = [
        *_text(document, names[0] if len(runs) > 1 else "", "".join(_played(scenario))),
        *(part for run, name in zip(runs[1:], names[1:], strict=True) for part in _text(run, name, "")),
        *_details(runs),
        *_foot(document),
    ]
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="color-scheme" content="light dark"/>'
        f"<title>{_plain(title_of(document))}</title><style>{themed(RULES)}{style()}</style></head><body>"
        f'<svg class="defs" aria-hidden="true"><defs>{TEXTURES}</defs></svg>'
    )
    room = BYTES_MAX - len("".join([head, *above, *below]).encode()) - FRAME_BYTES
    figure = inline(document, WIDE, room * 7 // 10) + inline(document, NARROW, room * 3 // 10)
    return f"{head}{''.join(above)}<figure>{figure}</figure>{''.join(below)}</body></html>\n"


def _head(document: SimulateDocument) -> Iterator[str]:
    scenario, runs = document["scenario"], runs_of(document)
    yield f'<header class="{"pair" if len(runs) > 1 else "alone"}">'
    for run, name in zip(runs, names_of(runs), strict=True):
        css, sign = grade(run)
        yield f'<section><p class="soft">{_plain(scenario["title"])} · <b>{_plain(name)}</b></p>'
        yield element("h1", f"{sign} {_plain(headline(run, scenario))}", class_=css)
        yield f'<p class="lead">{_plain(summary(run, scenario))}</p></section>'
    yield "</header>"


def _figures(run: RunRow) -> str:
    rows = "".join(
        f"<div><dt>{_plain(name)}</dt><dd>{_plain(value)}</dd></div>" for name, value in figures(run["verdict"])
    )
    return f"<dl>{rows}</dl>"


def _comparison(runs: list[RunRow]) -> str:
    columns = [figures(run["verdict"]) for run in runs]
    rows = ([cells[0][0], *(value for _, value in cells)] for cells in zip(*columns, strict=True))
    return _table(["", *names_of(runs)], rows)


def _text(run: RunRow, name: str, beside: str) -> Iterator[str]:
    """The findings and the advice of a run; ``name`` tells it from others, and ``beside`` stands below the findings."""
    name = f" ({_plain(name)})" if name else ""
    yield '<div class="pair"><section>'
    if run["findings"]:
        yield f"<h2>What happened{name}</h2><ol>"
        yield from (f"<li>{_plain(text)}</li>" for text in run["findings"][:FINDINGS_MAX])
        yield "</ol>" + _more(len(run["findings"]) - FINDINGS_MAX, "findings")
    yield f"{beside}</section><section>"
    if run["advice"]:
        yield f"<h2>What to change, and what that gives{name}</h2>"
        yield from (_advice(row, run) for row in run["advice"][:ADVICE_MAX])
        yield _more(len(run["advice"]) - ADVICE_MAX, "pieces of advice")
    yield "</section></div>"


def _advice(row: AdviceRow, run: RunRow) -> str:
    before, after = figures(run["verdict"]), figures(row["verdict"])
    changes = [
        f"{name} {old} → <b>{_plain(new)}</b>"
        for (name, old), (_, new) in zip(before, after, strict=True)
        if old != new
    ]
    played = f"<p>Simulated: {'; '.join(changes)}.</p>" if changes else "<p>Simulated: nothing changes.</p>"
    return (
        f'<div class="advice">{"".join(map(_change, (row, *row.get("also", ()))))}'
        f"<p>{_plain(sentence(row['why']))}</p>{played}</div>"
    )


def _change(row: AdviceRow | ChangeRow) -> str:
    change = f"<del>{_plain(row['old'] or 'not set')}</del> → <ins>{_plain(row['new'] or 'taken out')}</ins>"
    return (
        f"<p><code>{_plain(row['object'])}<br/>{_plain(row['path'])}</code></p>"
        f'<p class="lead"><code>{change}</code></p>'
    )


def _played(scenario: ScenarioRow) -> Iterator[str]:
    yield f"<h2>What was played</h2><p>{_plain(scenario['text'])}</p>"
    if scenario["faults"]:
        yield from _list((_fault(fault) for fault in scenario["faults"]), len(scenario["faults"]), "faults")
    if scenario["assumed"]:
        yield "<p>Assumed of these manifests:</p>"
        yield from _list(scenario["assumed"], len(scenario["assumed"]), "assumptions")


def _fault(fault: FaultRow) -> str:
    start, end = fault["from_seconds"], fault["to_seconds"]
    until = " on" if end is None else "" if end == start else f" to {moment(end)}"
    return f"{fault['label']}: {'at' if end == start else 'from'} {moment(start)}{until}"


def _list(texts: Iterable[str], count: int, what: str) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{_plain(text)}</li>" for text in islice(texts, FINDINGS_MAX))
    yield "</ul>" + _more(count - FINDINGS_MAX, what)


def _details(runs: list[RunRow]) -> Iterator[str]:
    pods = [pod for run in runs for pod in run["pods"]]
    if pods:
        heads = ["pod", "node", "version", "outcome", "restarts", "kills by probes"]
        yield f"<details><summary>The {len(pods)} pods in words</summary>"
        yield _table(heads, map(_pod_cells, pods[:PODS_MAX]), "rows")
        yield _more(len(pods) - PODS_MAX, "pods") + "</details>"
    events = sorted((event for run in runs for event in run["events"]), key=lambda event: event["at_seconds"])
    if events:
        rows = ([moment(row["at_seconds"]), row["pod"], row["reason"], row["message"]] for row in events[:EVENTS_MAX])
        yield "<details><summary>Events</summary>" + _table(["at", "pod", "reason", "message"], rows, "rows")
        yield _more(len(events) - EVENTS_MAX, "events") + "</details>"


def _pod_cells(pod: PodRow) -> list[str]:
    words, numbers, _ = outcome(pod)
    kills = ", ".join(f"{kill['probe_type']} at {moment(kill['at_seconds'])}" for kill in pod["kills"][:KILLS_MAX])
    kills += f" and {len(pod['kills']) - KILLS_MAX} more" if len(pod["kills"]) > KILLS_MAX else ""
    ended = f"{words}, {numbers}" if numbers else words
    return [pod["name"], pod["node"], str(pod["version"]), ended, str(pod["restarts"]), kills or "none"]


def _table(heads: Sequence[str], rows: Iterable[Iterable[str]], css: str = "") -> str:
    """A table; one of the class ``rows`` has a line for each cell on a narrow screen, with its column's name."""

    def cell(text: str, head: str) -> str:
        return element("td", escaped(shortened(text, CELL_MAX)) or " ", data_of=head if css else "")

    first = "".join(element("th", escaped(shortened(text, CELL_MAX)) or " ") for text in heads)
    body = "".join(f"<tr>{''.join(map(cell, row, heads))}</tr>" for row in rows)
    return f'<div class="scroll">{element("table", f"<tr>{first}</tr>{body}", class_=css)}</div>'


def _foot(document: SimulateDocument) -> Iterator[str]:
    made = f"Seed {document['seed']}, probelet {document['probelet']}"
    played = f"{duration(document['played_seconds'])} of simulated time"
    yield f"<footer><p>Play it again:</p><pre><code>{_plain(document['command'])}</code></pre>"
    yield f"<p><small>{_plain(made)}, {played}. With <code>-o json</code> the command prints every number of this page."
    yield "</small></p></footer>"


def _more(count: int, what: str) -> str:
    return f'<p class="soft">and {count:,} more {what} in <code>-o json</code></p>' if count > 0 else ""


def _plain(text: str) -> str:
    """Foreign text, escaped and of bounded length."""
    return escaped(shortened(text, TEXT_MAX))
