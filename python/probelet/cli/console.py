"""The rich console of every verb."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from probelet.base.printable import one_line, printable


class PrintableConsole(Console):
    """Writes no control character but the console's own: rich passes on the escape sequences of a text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(printable(segment.text, keep="\n"), segment.style)


def line_of(text: str, style: str = "") -> Text:
    """A foreign text as one line, so that a table can measure and place it."""
    return Text(one_line(text), style)
