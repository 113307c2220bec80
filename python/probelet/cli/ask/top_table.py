"""The table of ``probelet top``: one line per container in order of trouble, and its first problem below."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.text import Text

from probelet.cli.ask.history.beats import LATE_MS, beats
from probelet.cli.ask.status_table import NAME_LEAST, STATE_LEAST, StatusTable, state_style
from probelet.cli.columns import Column
from probelet.cli.console import line_of
from probelet.server.document.top import TopDocument
from probelet.server.summary import milliseconds, span, state, trouble

# Time from which the table highlights a probe as slow.
SLOW_MS = 500.0
# Attempts of all probes of a container together in its line of beats.
BEATS = 16
# Width from which there may be room for beats: below it the document needs none.
BEATS_WIDTH = 100


class TopTable(StatusTable):
    """A rich renderable of a ``probelet-top/1`` document made from ``status``; ``lines`` is the space for it."""

    columns: tuple[Column, ...] = (
        Column("CONTAINER", NAME_LEAST),
        Column("STATE", STATE_LEAST),
        Column("RESTARTS", leaves=5),
        Column("BACK-OFF", leaves=4),
        Column("LATE", leaves=2),
        Column("TOOK", leaves=3),
        Column("PROBES"),
        Column("BEATS", leaves=1),
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
        self._unicode = unicode
        probes = (probe for container in self._containers.values() for probe in container["probes"].values())
        if not any("history" in probe for probe in probes):
            self.columns = self.columns[:-1]

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
                self._beats(container["probes"]),
            ][: len(self.columns)]
            yield cells, trouble(container, self._as_of)[:1]

    def _beats(self, probes: dict[str, Any]) -> Text:
        """The last attempts of all probes of a container, as they came."""
        attempts = [attempt for probe in probes.values() for attempt in probe.get("history", {}).get("attempts", ())]
        return beats(sorted(attempts, key=lambda attempt: attempt["at"])[-BEATS:], unicode=self._unicode)


def _milliseconds(value: float, much: float) -> Text:
    return Text(milliseconds(value), "yellow" if value >= much else "dim")
