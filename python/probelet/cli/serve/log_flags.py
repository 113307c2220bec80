"""The flags of every verb that logs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LogFlags:
    """What the log on stderr looks like, and how much of it there is."""

    log_format: Annotated[Literal["text", "json"], Parameter(help="On stderr: for a person, or an object a line.")] = (
        "text"
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Parameter(help="Where the log begins.")] = "info"

    def set_up(self) -> None:
        """The log is like this from now on, in colours where a person who has not refused them looks."""
        import os
        import sys

        from probelet.daemon.logging import set_up_logging

        set_up_logging(self.log_format, self.log_level, colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ)


LOG = LogFlags()
