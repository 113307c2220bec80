"""The table of ``probelet status``: one line per container, and below it one line per problem."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from probelet.cli.columns import GAP, Column, fit
from probelet.cli.console import line_of
from probelet.server.summary import (
    PROBE_TYPES,
    Sign,
    foreign,
    mistake,
    more_mistakes,
    open_incident,
    outdated,
    pod_trouble,
    probe_mark,
    restarts,
    state,
    trouble,
)

# Long enough to tell most pods apart; then as much as a telephone's terminal has room for.
NAME_LEAST: Final = (12, 8)
# The first one holds CrashLoopBackOff.
STATE_LEAST: Final = (16, 10, 8)
# With less room a message without its middle says nothing.
MESSAGE_LEAST: Final = 12

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

    columns: tuple[Column, ...] = (
        Column("POD", NAME_LEAST),
        Column("READY"),
        Column("STATE", STATE_LEAST),
        Column("RESTARTS", (8,), leaves=1),
        Column("PROBES"),
    )

    def __init__(self, document: Mapping[str, Any], *, unicode: bool) -> None:
        self._document = document
        self._as_of = datetime.fromisoformat(document["as_of"])
        self._marks = _MARKS if unicode else _ASCII_MARKS
        self._branch = "└ " if unicode else "- "
        self._ellipsis = "…" if unicode else "~"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield self._summary(options.max_width)
        for line in self._incidents():
            line.no_wrap, line.overflow = (None, None) if console.is_terminal else (True, "ignore")
            yield line
        if not self._is_empty():
            yield from self._table(options)
        for line in self._mistakes():
            # A program that reads the table gets each mistake in one line.
            line.no_wrap, line.overflow = (None, None) if console.is_terminal else (True, "ignore")
            yield line

    def _table(self, options: ConsoleOptions) -> Iterator[Text]:
        rows = list(self._rows())
        wanted = [max(cell_len(cells[index].plain) for cells, _ in rows) for index in range(len(self.columns))]
        widths = fit(self.columns, wanted, options.max_width)
        yield self._line([Text(column.head, "bold") for column in self.columns], widths, options.max_width)
        for cells, sentences in rows:
            yield self._line(cells, widths, options.max_width)
            for sentence in sentences:
                indent = "  " + ("  " if cells[0].plain.startswith("  ") else "")
                yield self._shortened(line_of(f"{indent}{self._branch}{sentence}", "dim"), options.max_width)

    def _incidents(self) -> Iterator[Text]:
        """The open incidents, above everything that they explain, and what takes longer than with the image before."""
        shown = self._document.get("incidents", ())
        for incident in shown:
            yield line_of(f"incident: {open_incident(incident, self._as_of)}", "red")
        if (more := self._document.get("incidents_total", 0) - len(shown)) > 0:
            yield line_of(f"incident: and {more} more: probelet incidents", "red")
        for sentence in self._document.get("drifts", ()):
            yield line_of(f"drift: {sentence}", "yellow")

    def _mistakes(self) -> Iterator[Text]:
        """The mistakes of the manifests in full: a cut line would hide what is allowed."""
        for error in self._document.get("manifest_errors", ()):
            yield line_of(f"error: {mistake(error)}", "red")
        if more := more_mistakes(self._document):
            yield line_of(f"error: and {more} more in the manifests", "red")

    def _is_empty(self) -> bool:
        return not self._document["pods"]

    def _summary(self, width: int) -> Text:
        pods = self._document["pods"]
        ready = sum(pod["ready"] for pod in pods)
        many = "1 pod" if len(pods) == 1 else f"{len(pods)} pods"
        return self._first_that_fits([f"{many}, {ready} ready at {self._at()}", f"{many}, {ready} ready"], width)

    def _at(self) -> str:
        return f"{self._as_of:%H:%M:%S} UTC"

    def _first_that_fits(self, summaries: list[str], width: int) -> Text:
        """The node's name and the first summary for which there is room; if none has room, the last one and an abridged
        name."""
        node = line_of(self._document["node"]).plain
        for summary in summaries:
            if cell_len(f"{node}: {summary}") <= width:
                return Text(f"{node}: {summary}", "dim")
        room = max(width - cell_len(f": {summaries[-1]}"), NAME_LEAST[-1])
        return Text(f"{self._without_middle(node, room)}: {summaries[-1]}", "dim", no_wrap=True, overflow="crop")

    def _names_namespaces(self) -> bool:
        """True if the names of pods begin with their namespaces: a pod is in another namespace than ``default``."""
        return any(pod["namespace"] != "default" for pod in self._document["pods"])

    def _rows(self) -> Iterator[tuple[list[Text], list[str]]]:
        qualified = self._names_namespaces()
        for pod in self._document["pods"]:
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
            line_of(state(container, self._as_of), state_style(container)),
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

    def _line(self, cells: list[Text], widths: dict[int, int], width: int) -> Text:
        """The cells of the columns that ``widths`` has; the line ends at ``width``."""
        line = Text(no_wrap=True, overflow="ignore")
        for index, columns in widths.items():
            cell = self._abridged(cells[index], columns) if index == 0 else self._cut(cells[index], columns)
            line.append_text(cell)
            line.append(" " * (columns - cell_len(cell.plain)) + GAP)
        line.rstrip()
        if cell_len(line.plain) > width:
            line.truncate(width - 1)
            line.append(self._ellipsis)
        return line

    def _cut(self, text: Text, width: int) -> Text:
        if cell_len(text.plain) > width:
            return Text(set_cell_size(text.plain, width - 1) + self._ellipsis, text.style)
        return text

    def _abridged(self, name: Text, width: int) -> Text:
        """A name without its namespace, or without its middle: a workload's pods begin alike, and a container's name is
        at the end."""
        text = name.plain
        if cell_len(text) <= width:
            return name
        _, slash, rest = text.partition("/")
        if slash and self._names_namespaces() and cell_len(f"{self._ellipsis}/{rest}") <= width:
            return Text(f"{self._ellipsis}/{rest}", name.style)
        return Text(self._without_middle(text, width), name.style)

    def _shortened(self, sentence: Text, width: int) -> Text:
        """A sentence without its end; that of a probe without the middle of its message, whose end says what is wrong,
        behind an address."""
        about, colon, message = sentence.plain.partition(": ")
        room = width - cell_len(about + colon)
        is_of_probe = about.strip().removeprefix(self._branch).startswith(PROBE_TYPES)
        if not is_of_probe or room < MESSAGE_LEAST:
            return self._cut(sentence, width)
        return Text(about + colon + self._without_middle(message, room), sentence.style)

    def _without_middle(self, text: str, width: int) -> str:
        if cell_len(text) <= width:
            return text
        head, tail = set_cell_size(text, (width - 1) // 2), text
        while cell_len(tail) > width - 1 - cell_len(head):
            tail = tail[1:]
        return f"{head}{self._ellipsis}{tail}"


def state_style(container: dict[str, Any]) -> str:
    """Yellow for a container that waits, red for one that failed, dim for one that completed."""
    if container["state"] == "terminated" and container["exit_code"]:
        return "red"
    return {"running": "", "waiting": "yellow", "terminated": "dim"}[container["state"]]


def _has_succeeded(container: dict[str, Any]) -> bool:
    return bool(container["state"] == "terminated" and container["exit_code"] == 0)


def _ready(count: str, ready: bool, *, ended: bool) -> Text:
    return Text(count, "dim" if ended else "green" if ready else "yellow")
