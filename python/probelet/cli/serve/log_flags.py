"""The flags of every verb that logs."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LogFlags:
    """Format and level of the log on stderr."""

    log_format: Annotated[Literal["text", "json"], Parameter(help="Form of the log on stderr.")] = "text"
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Parameter(help="Least level to log.")] = "info"

    def set_up(self) -> None:
        """Sets up the log; it has colours if stderr is a terminal and NO_COLOR is unset."""
        import os
        import sys

        from probelet.daemon.logging import set_up_logging

        set_up_logging(self.log_format, self.log_level, colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ)


LOG = LogFlags()
