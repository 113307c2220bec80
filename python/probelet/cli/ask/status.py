"""``probelet status``."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import Parameter

from probelet.cli.cluster.options import Context, Kubeconfig, Namespace
from probelet.cli.exit import CliError, Exit
from probelet.cli.options import Duration, Output, StateDir, above_zero
from probelet.cli.terminal import console, print_json, unicode_in
from probelet.cli.verb import verb
from probelet.server.limit import HISTORY_MAX

if TYPE_CHECKING:
    from rich.console import Console

    from probelet.cli.ask.history.blocks import HistoryBlocks
    from probelet.cli.ask.status_table import StatusTable

WithHistory: TypeAlias = Annotated[
    bool, Parameter(show_default=False, negative="", help="Show the last 64 attempts and 4 failures of each probe.")
]
OfCluster: TypeAlias = Annotated[
    bool, Parameter(show_default=False, help="Show taken-over pods on nodes without a live agent; 1 if there are.")
]

app = verb(
    "status",
    "In the column PROBES, L, R and S are liveness, readiness and startup: ✓ passes,\n"
    "✗2/3 failed 2 of 3 times, ✓1/2 recovers, ! prober error, · has not run yet.\n"
    "Below the table are the mistakes of the manifests; each costs its pod, or keeps\n"
    "it at its earlier version.\n\n"
    "--history draws the last attempts of each probe, a character for each, and below\n"
    "them its last four failures. They are remembered over restarts of the container,\n"
    "and with restore: full over restarts of probelet.\n\n"
    "--cluster asks the API server instead of a service on this machine: it lists the\n"
    "nodes with their agents, and the taken-over pods that no agent probes.",
    "probelet status",
    "probelet status web shop/cart --watch",
    "probelet status --wait web=ready --wait job=Succeeded --timeout 1m",
    "probelet status web --history",
    "probelet status --cluster",
    "probelet status -o json | jq '.pods[] | select(.ready | not) | .name'",
)


@app.default
def status(
    *pods: Annotated[str, Parameter(name="POD", help="Only these pods: NAME or NAMESPACE/NAME.")],
    output: Output = "table",
    watch: Annotated[
        bool, Parameter(show_default=False, help="Repeat every second until q, Ctrl-C or --duration.")
    ] = False,
    duration: Duration = None,
    wait: Annotated[
        list[str] | None,
        Parameter(
            name="--wait",
            metavar="[POD=]STATE",
            negative="",
            help="First wait until POD, or every pod, is ready, in a phase, or has a container in that state.",
        ),
    ] = None,
    timeout: Annotated[
        float,
        Parameter(
            converter=above_zero,
            allow_leading_hyphen=True,
            metavar="TIME",
            help="With --wait: the longest wait, then exit code 1. Default: 30s.",
            show_default=False,
        ),
    ] = 30.0,
    history: WithHistory = False,
    state_dir: StateDir = None,
    cluster: OfCluster = False,
    kubeconfig: Kubeconfig = None,
    context: Context = "",
    namespace: Namespace = "probelet-system",
) -> int:
    from probelet.cli.ask.client import service_client
    from probelet.cli.ask.wait import parse_condition, wait_for
    from probelet.cli.ask.watch import watch as watch_status

    if cluster:
        from probelet.cli.cluster.coverage import show_coverage

        if pods or watch or wait or history:
            raise CliError("--cluster shows the nodes of a cluster: it takes no POD, --watch, --wait or --history")
        return show_coverage(kubeconfig, context, namespace, output)
    if duration is not None and not watch:
        raise CliError("--duration is for --watch", hint="probelet status --watch --duration 60s")
    out, attempts = console(), HISTORY_MAX if history else 0
    conditions = [parse_condition(text) for text in wait or ()]
    with service_client(state_dir) as client:

        def current() -> dict[str, Any]:
            return select_pods(client.status(attempts), pods)

        if conditions:
            document = wait_for(lambda: client.status(attempts), conditions, timeout)
            if not watch:
                _print(select_pods(document, pods), output, out, history=history)
                return Exit.GOOD
        if watch:

            def refresh() -> "StatusTable | HistoryBlocks | None":
                if output == "table" and out.is_terminal:
                    return _table(current(), out, history=history)
                _print(current(), output, out, history=history, one_line=True)
                return None

            watch_status(refresh, out, duration)
        else:
            _print(current(), output, out, history=history)
    return Exit.GOOD


def select_pods(document: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any]:
    """The status document with only the wanted pods and the mistakes of their manifests; an unknown name is bad input,
    unless its manifest has a mistake."""
    if not wanted:
        return document

    def names(pod: dict[str, Any]) -> set[str]:
        return {pod["name"], f"{pod['namespace']}/{pod['name']}"}

    errors = document.get("manifest_errors", [])
    known = set[str]().union(*map(names, [*document["pods"], *(error for error in errors if error["name"])]))
    if missing := [name for name in wanted if name not in known]:
        raise CliError(*(f'there is no pod "{name}"' for name in missing), hint="probelet status")
    chosen: dict[str, Any] = {"pods": [pod for pod in document["pods"] if names(pod) & set(wanted)]}
    if errors:
        of_these = [error for error in errors if names(error) & set(wanted)]
        chosen |= {"manifest_errors": of_these, "manifest_errors_total": len(of_these)}
    return {**document, **chosen}


def _print(document: dict[str, Any], output: str, out: "Console", *, history: bool, one_line: bool = False) -> None:
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(document), indented=not one_line, flush=True)
    else:
        # The table keeps to the width by itself; mistakes of manifests are longer.
        out.print(_table(document, out, history=history), crop=False)


def _table(document: dict[str, Any], out: "Console", *, history: bool) -> "StatusTable | HistoryBlocks":
    from probelet.cli.ask.history.blocks import HistoryBlocks
    from probelet.cli.ask.status_table import StatusTable

    return (HistoryBlocks if history else StatusTable)(document, unicode=unicode_in(out.encoding))
