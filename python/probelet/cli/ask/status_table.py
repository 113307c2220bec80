"""The table of ``probelet status``: one line per container, and below it one line per problem."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from probelet.cli.console import line_of
from probelet.server.summary import (
    PROBE_TYPES,
    Sign,
    foreign,
    mistake,
    more_mistakes,
    outdated,
    pod_trouble,
    probe_mark,
    restarts,
    state,
    trouble,
)

GAP = "  "
# A name too long for the terminal keeps at least this many columns.
POD_COLUMNS_MIN = 12

_STYLES: dict[Sign, str] = {
    "good": "green",
    "failing": "yellow",
    "bad": "red",
    "recovering": "yellow",
    "error": "yellow",
    "pending": "dim",
}
_MARKS: dict[Sign, str] = {"good": "✓", "failing": "✗", "bad": "✗", "recovering": "✓", "error": "!", "pending": "·"}
_ASCII_MARKS: dict[Sign, str] = {
    "good": "+",
    "failing": "x",
    "bad": "x",
    "recovering": "+",
    "error": "!",
    "pending": ".",
}


class StatusTable:
    """A rich renderable of a status document. ``unicode``: the terminal can show ✓ and ✗."""

    heads: tuple[str, ...] = ("POD", "READY", "STATE", "RESTARTS", "PROBES")

    def __init__(self, document: Mapping[str, Any], *, unicode: bool) -> None:
        self._document = document
        self._as_of = datetime.fromisoformat(document["as_of"])
        self._marks = _MARKS if unicode else _ASCII_MARKS
        self._branch = "└ " if unicode else "- "
        self._ellipsis = "…" if unicode else "~"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield self._summary()
        if not self._is_empty():
            yield from self._table(options)
        for line in self._mistakes():
            # A program that reads the table gets each mistake in one line.
            line.no_wrap, line.overflow = (None, None) if console.is_terminal else (True, "ignore")
            yield line

    def _table(self, options: ConsoleOptions) -> Iterator[Text]:
        rows = list(self._rows())
        widths = [max(cell_len(cells[column].plain) for cells, _ in rows) for column in range(len(self.heads))]
        widths = [max(width, len(head)) for width, head in zip(widths, self.heads, strict=True)]
        over = sum(widths) + len(GAP) * (len(widths) - 1) - options.max_width
        widths[0] = max(widths[0] - max(over, 0), min(widths[0], POD_COLUMNS_MIN))
        yield self._line([Text(head, "bold") for head in self.heads], widths)
        for cells, sentences in rows:
            yield self._line(cells, widths)
            for sentence in sentences:
                indent = "  " + ("  " if cells[0].plain.startswith("  ") else "")
                yield self._cut(line_of(f"{indent}{self._branch}{sentence}", "dim"), options.max_width)

    def _mistakes(self) -> Iterator[Text]:
        """The mistakes of the manifests in full: a cut line would hide what is allowed."""
        for error in self._document.get("manifest_errors", ()):
            yield line_of(f"error: {mistake(error)}", "red")
        if more := more_mistakes(self._document):
            yield line_of(f"error: and {more} more in the manifests", "red")

    def _is_empty(self) -> bool:
        return not self._document["pods"]

    def _summary(self) -> Text:
        pods = self._document["pods"]
        ready = sum(pod["ready"] for pod in pods)
        many = "1 pod" if len(pods) == 1 else f"{len(pods)} pods"
        return line_of(f"{self._document['node']}: {many}, {ready} ready at {self._as_of:%H:%M:%S} UTC", "dim")

    def _rows(self) -> Iterator[tuple[list[Text], list[str]]]:
        pods = self._document["pods"]
        qualified = any(pod["namespace"] != "default" for pod in pods)
        for pod in pods:
            name = f"{pod['namespace']}/{pod['name']}" if qualified else pod["name"]
            containers, note = pod["containers"], outdated(pod)
            notes = [*([] if note is None else [note]), *foreign(pod)]
            if len(containers) == 1:
                cells, sentences = self._container(line_of(name), containers[0], pod["ready"])
                yield cells, [*notes, *sentences, *pod_trouble(pod)]
                continue
            counted = [container for container in containers if container["kind"] != "init"]
            ready = f"{sum(container['ready'] for container in counted)}/{len(counted)}"
            total = str(sum(container["restart_count"] for container in containers))
            ready_text = _ready(ready, pod["ready"], ended=pod["phase"] == "Succeeded")
            yield (
                [line_of(name), ready_text, line_of(pod["phase"]), Text(total), Text("")],
                [*notes, *pod_trouble(pod)],
            )
            for container in containers:
                yield self._container(line_of(f"  {container['name']}"), container, container["ready"])

    def _container(self, name: Text, container: dict[str, Any], ready: bool) -> tuple[list[Text], list[str]]:
        cells = [
            name,
            _ready("1/1" if container["ready"] else "0/1", ready, ended=_has_succeeded(container)),
            line_of(state(container), state_style(container)),
            Text(restarts(container, self._as_of), "yellow" if container["restart_count"] else ""),
            self._probes(container["probes"]),
        ]
        return cells, trouble(container, self._as_of)

    def _probes(self, probes: dict[str, Any]) -> Text:
        shown = []
        for probe_type in PROBE_TYPES:
            if probe_type in probes:
                mark = probe_mark(probes[probe_type])
                text = f"{probe_type[0].upper()}{self._marks[mark.sign]}{mark.count}"
                shown.append(Text(text, _STYLES[mark.sign]))
        return Text(" ").join(shown)

    def _line(self, cells: list[Text], widths: list[int]) -> Text:
        line = Text(no_wrap=True, overflow="ignore")
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True)):
            cell = self._cut(cell, width)
            line.append_text(cell)
            if index < len(cells) - 1:
                line.append(" " * (width - cell_len(cell.plain)) + GAP)
        line.rstrip()
        return line

    def _cut(self, text: Text, width: int) -> Text:
        if cell_len(text.plain) > width:
            return Text(set_cell_size(text.plain, width - 1) + self._ellipsis, text.style)
        return text


def state_style(container: dict[str, Any]) -> str:
    """Yellow for a container that waits, red for one that failed, dim for one that completed."""
    if container["state"] == "terminated" and container["exit_code"]:
        return "red"
    return {"running": "", "waiting": "yellow", "terminated": "dim"}[container["state"]]


def _has_succeeded(container: dict[str, Any]) -> bool:
    return bool(container["state"] == "terminated" and container["exit_code"] == 0)


def _ready(count: str, ready: bool, *, ended: bool) -> Text:
    return Text(count, "dim" if ended else "green" if ready else "yellow")
