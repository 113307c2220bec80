"""The client of the running service for verbs: its errors become exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import print_json, print_lines
from probelet.server.control.client import Client
from probelet.server.control.command import NoSuchPodError, RefusedError
from probelet.server.control.state_dir import service_state_dir
from probelet.server.error import NotRunningError

if TYPE_CHECKING:
    from probelet.server.control.pages_client import PagesClient

NO_SERVICE_HINT = "probelet run PATH...   (or --state-dir)"


@contextmanager
def service_client(state_dir: Path | None) -> Iterator[Client]:
    """The client of the service in ``state_dir``; the verb ends with 3 if no service answers."""
    try:
        yield Client(state_dir or service_state_dir())
    except NotRunningError as error:
        raise CliError(str(error), code=Exit.CANNOT, hint=NO_SERVICE_HINT) from error


@contextmanager
def asked_client(url: str | None, state_dir: Path | None) -> "Iterator[Client | PagesClient]":
    """The client of the pages at ``url``, or without one of the service in ``state_dir``."""
    if url is None:
        with service_client(state_dir) as client:
            yield client
        return
    from probelet.server.control.pages_client import PagesClient

    try:
        yield PagesClient(url)
    except ValueError as error:
        raise CliError(f"--url {url}: {error}") from error
    except NotRunningError as error:
        hint = "kubectl port-forward -n probelet-system deployment/probelet-controller 10290"
        raise CliError(str(error), code=Exit.CANNOT, hint=hint) from error


def command(
    name: Literal["retry", "reset"],
    pod: str,
    container: str | None,
    state_dir: Path | None,
    output: str,
    *,
    done_word: str,
) -> list[str]:
    """Sends a command for a pod's containers and prints the result; returns the containers' names."""
    with service_client(state_dir) as client:
        try:
            document: dict[str, Any] = client.command(name, pod, container)
        except NoSuchPodError as error:
            raise CliError(str(error), hint="probelet status") from error
        except RefusedError as error:
            raise CliError(str(error), code=Exit.CANNOT) from error
    done: list[str] = document["containers"]
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(document))
    elif done:
        print_lines(f"{done_word}: {', '.join(done)}")
    else:
        print_lines(f"nothing to {name} in {pod}")
    return done
