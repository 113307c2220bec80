"""Asking the service that runs, and having it do something: the client, with its troubles as exits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import printable
from probelet.server.client import Client
from probelet.server.command import NoSuchPodError
from probelet.server.error import NotRunningError
from probelet.server.state_dir import default_state_dir


@contextmanager
def service_client(state_dir: Path | None) -> Iterator[Client]:
    """The client of the service in a state directory; when none answers inside the context, the verb ends with 3."""
    try:
        yield Client(state_dir or default_state_dir())
    except NotRunningError as error:
        raise CliError(str(error), code=Exit.CANNOT, hint="probelet run PATH...   (or --state-dir)") from error


def command(
    name: Literal["retry", "reset"], pod: str, container: str | None, state_dir: Path | None, output: str, *, said: str
) -> list[str]:
    """Have the service do something to a pod's containers and say to which; returns their names."""
    with service_client(state_dir) as client:
        try:
            document: dict[str, Any] = client.command(name, pod, container)
        except NoSuchPodError as error:
            raise CliError(str(error), hint="probelet status") from error
    done: list[str] = document["containers"]
    if output == "json":
        import msgspec

        print(msgspec.json.encode(document).decode())
    elif done:
        print(printable(f"{said}: {', '.join(done)}"))
    else:
        print(printable(f"nothing to {name} in {pod}"))
    return done
