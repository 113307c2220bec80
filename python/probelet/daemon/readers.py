"""The line for pages that other machines can read."""

from typing import Any

from probelet.server.address import Listening


def warn_of_readers(listening: Listening, log: Any) -> None:
    """Logs a warning if other machines may reach the pages."""
    if listening.is_remote:
        log.warning(
            "other machines can read the pages, and see commands and output of probes; a reader needs no password",
            address=str(listening.address),
        )
