"""The output of ``probelet status --history``: of each probe a line of its last attempts, and below it its failures."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.text import Text

from probelet.cli.ask.history.beats import beats, legend
from probelet.cli.console import line_of
from probelet.server.summary import PROBE_TYPES, milliseconds

INDENT: Final = "  "
DURATION_WIDTH: Final = 6
"""``59.9s`` and ``999ms``, with room for a slow minute."""


class HistoryBlocks:
    """A rich renderable of a status document with histories. ``unicode``: the terminal can show ·."""

    def __init__(self, document: Mapping[str, Any], *, unicode: bool) -> None:
        self._document = document
        self._as_of = datetime.fromisoformat(document["as_of"])
        self._unicode = unicode

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield line_of(f"{self._document['node']}: attempts up to {self._as_of:%H:%M:%S} UTC, oldest first", "dim")
        yield legend(unicode=self._unicode)
        for pod in self._document["pods"]:
            for container in pod["containers"]:
                for probe_type in PROBE_TYPES:
                    if (probe := container["probes"].get(probe_type)) is not None:
                        yield self._head(pod, container["name"], probe_type)
                        yield from self._block(probe.get("history"), console, options.max_width)

    def _head(self, pod: Mapping[str, Any], container: str, probe_type: str) -> Text:
        return line_of(f"{pod['namespace']}/{pod['name']} {container} {probe_type}", "bold")

    def _block(self, history: Mapping[str, Any] | None, console: Console, width: int) -> Iterator[Text]:
        if not history or not history["attempts"]:
            yield Text(f"{INDENT}no attempt yet", "dim")
            return
        attempts: Sequence[Mapping[str, Any]] = history["attempts"][-max(width - len(INDENT), 1) :]
        since = f"{INDENT}since {self._time(attempts[0]['at'])}"
        line = Text(INDENT).append_text(beats(attempts, unicode=self._unicode))
        if cell_len(line.plain) + len(since) <= width:
            line.append(since, "dim")
        yield line
        for failure in history["failures"]:
            yield self._failure(failure, console)

    def _failure(self, failure: Mapping[str, Any], console: Console) -> Text:
        took = milliseconds(failure["duration_ms"]).rjust(DURATION_WIDTH)
        line = line_of(f"{INDENT}{self._time(failure['at'])} {took}  {failure['cause']}: {failure['message']}")
        # A program that reads the lines gets each failure in one.
        line.no_wrap, line.overflow = (None, None) if console.is_terminal else (True, "ignore")
        return line

    def _time(self, at: str) -> str:
        """The time of a moment, and its date if that is not today's."""
        moment = datetime.fromisoformat(at)
        return f"{moment:%H:%M:%S}" if moment.date() == self._as_of.date() else f"{moment:%Y-%m-%d %H:%M:%S}"
