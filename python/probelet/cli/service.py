"""Asking the service that runs: the client, with its troubles as exits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from probelet.cli.exit import CliError, Exit
from probelet.server.client import Client
from probelet.server.error import NotRunningError
from probelet.server.state_dir import default_state_dir


@contextmanager
def service_client(state_dir: Path | None) -> Iterator[Client]:
    """The client of the service in a state directory; when none answers inside the context, the verb ends with 3."""
    try:
        yield Client(state_dir or default_state_dir())
    except NotRunningError as error:
        raise CliError(str(error), code=Exit.CANNOT, hint="probelet run PATH...   (or --state-dir)") from error
