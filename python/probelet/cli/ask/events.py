"""``probelet events``."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from probelet.cli.ask.status import select_pods
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, Output, StateDir
from probelet.cli.terminal import console, print_json
from probelet.cli.verb import verb

if TYPE_CHECKING:
    from rich.console import Console

    from probelet.server.control.client import Client

TIME_COLUMNS = len("06:23:16 ")

app = verb(
    "events",
    "Prints the newest event last. Equal events are one line with their count.",
    "probelet events",
    "probelet events web --follow",
    "probelet events -o json | jq -r 'select(.reason == \"Killing\") | .message'",
)


@app.default
def events(
    *pods: Annotated[str, Parameter(name="POD", help="Only events of these pods: NAME or NAMESPACE/NAME.")],
    output: Output = "table",
    follow: Annotated[
        bool, Parameter(show_default=False, help="Print new events too, until Ctrl-C or --duration.")
    ] = False,
    duration: Duration = None,
    state_dir: StateDir = None,
) -> int:
    from probelet.cli.ask.client import service_client

    if duration is not None and not follow:
        raise CliError("--duration is for --follow", hint="probelet events --follow --duration 60s")
    out = console()
    with service_client(state_dir) as client:
        if pods:
            _require_known(client, pods)
        found: Iterable[dict[str, Any]] = client.follow(seconds=duration) if follow else client.events()
        for event in found:
            if not pods or names(event["object"]) & set(pods):
                print_event(event, output, out)
    return Exit.GOOD


def _require_known(client: "Client", pods: tuple[str, ...]) -> None:
    """A name that is neither a pod's nor in an event is bad input, as for ``status``."""
    known = {name for event in client.events() for name in names(event["object"])}
    if missing := [pod for pod in pods if pod not in known]:
        select_pods(client.status(), tuple(missing))


def names(pod: str) -> set[str]:
    """The two names of an event's object, ``NAMESPACE/NAME``, that a person may use."""
    return {pod, pod.rpartition("/")[2]}


def container_of(field_path: str) -> str:
    """The part of ``involvedObject.fieldPath`` that names the container: ``{app}`` of ``spec.containers{app}``. Empty
    for an event of the whole pod. The kubelet's texts of Created and Started do not name it."""
    _, brace, name = field_path.partition("{")
    return brace + name


def print_event(event: dict[str, Any], output: str, out: "Console") -> None:
    """Writes one event as a line for a person, or as JSON."""
    if output == "json":
        import msgspec

        shown = {key: value for key, value in event.items() if key != "seq"}
        print_json(msgspec.json.encode(shown), flush=True)
        return
    from rich.cells import cell_len
    from rich.text import Text

    from probelet.cli.console import line_of

    at = datetime.fromisoformat(event["at"])
    line = Text.assemble(
        (f"{at:%H:%M:%S} ", "dim"),
        line_of(f"{event['reason']:<10} ", "yellow" if event["type"] == "Warning" else "green"),
        line_of(f"{event['object']}{container_of(event['field_path'])} ", "bold"),
        line_of(event["message"]),
    )
    if event["count"] > 1:
        line.append(f" ({event['count']} times)", "dim")
    # Every word of a message counts: on a terminal that is too narrow it goes on below, beside the column of the times.
    if out.is_terminal and cell_len(line.plain) > out.width > 2 * TIME_COLUMNS:
        parts = line[TIME_COLUMNS:].wrap(out, out.width - TIME_COLUMNS)
        for part in parts:
            part.rstrip()
        line = line[:TIME_COLUMNS] + Text("\n" + " " * TIME_COLUMNS).join(parts)
    out.print(line, soft_wrap=True)
    out.file.flush()
