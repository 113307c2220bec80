"""The table of ``probelet top``: one line per container in order of trouble, and its first problem below."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.text import Text

from probelet.cli.ask.status_table import NAME_LEAST, STATE_LEAST, StatusTable, state_style
from probelet.cli.columns import Column
from probelet.cli.console import line_of
from probelet.server.document.top import TopDocument
from probelet.server.summary import span, state, trouble

# Times from which the table highlights a number: a prober that is late, and a probe that is slow.
LATE_MS = 100.0
SLOW_MS = 500.0


class TopTable(StatusTable):
    """A rich renderable of a ``probelet-top/1`` document made from ``status``; ``lines`` is the space for it."""

    columns = (
        Column("CONTAINER", NAME_LEAST),
        Column("STATE", STATE_LEAST),
        Column("RESTARTS", leaves=4),
        Column("BACK-OFF", leaves=3),
        Column("LATE", leaves=1),
        Column("TOOK", leaves=2),
        Column("PROBES"),
    )

    def __init__(self, document: TopDocument, status: dict[str, Any], *, unicode: bool, lines: int | None) -> None:
        super().__init__(document, unicode=unicode)
        self._containers = {
            (pod["namespace"], pod["name"], container["name"]): container
            for pod in status["pods"]
            for container in pod["containers"]
        }
        self._counted = {(pod["namespace"], pod["name"]): len(pod["containers"]) for pod in status["pods"]}
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        shown = list(super().__rich_console__(console, options))
        if self._lines is None or len(shown) <= self._lines:
            yield from shown
            return
        room = max(self._lines - 1, 2)
        yield from shown[:room]
        yield Text(f"{len(shown) - room} more lines; --once shows all", "dim")

    def _is_empty(self) -> bool:
        return not self._document["rows"]

    def _summary(self, width: int) -> Text:
        rows = self._document["rows"]
        failing = sum(row["failing"] > 0 for row in rows)
        waiting = sum(row["backoff_seconds"] > 0 for row in rows)
        few = f"{len(rows)} containers, {failing} failing"
        counts = f"{few}, {waiting} in back-off"
        order = f"by {self._document['sort']}"
        return self._first_that_fits([f"{counts}, {order} at {self._at()}", f"{counts}, {order}", counts, few], width)

    def _names_namespaces(self) -> bool:
        return any(row["namespace"] != "default" for row in self._document["rows"])

    def _rows(self) -> Iterator[tuple[list[Text], list[str]]]:
        qualified = self._names_namespaces()
        for row in self._document["rows"]:
            key = (row["namespace"], row["pod"], row["container"])
            container = self._containers[key]
            name = f"{row['namespace']}/{row['pod']}" if qualified else row["pod"]
            if self._counted[key[:2]] > 1:
                name += f"/{row['container']}"
            cells = [
                line_of(name),
                line_of(state(container, self._as_of), state_style(container)),
                Text(str(row["restart_count"]), "yellow" if row["restart_count"] else "dim"),
                Text(span(row["backoff_seconds"]), "yellow") if row["backoff_seconds"] else Text(""),
                _milliseconds(row["lateness_ms"], LATE_MS) if row["probes"] else Text(""),
                _milliseconds(row["duration_ms"], SLOW_MS) if row["probes"] else Text(""),
                self._probes(row["probes"]),
            ]
            yield cells, trouble(container, self._as_of)[:1]


def _milliseconds(value: float, much: float) -> Text:
    """Renders ``<1ms``, ``12ms`` or ``1.5s``."""
    text = "<1ms" if value < 1 else f"{value:.0f}ms" if value < 1000 else f"{value / 1000:.1f}s"
    return Text(text, "yellow" if value >= much else "dim")
