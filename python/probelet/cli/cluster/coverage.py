"""``probelet status --cluster``: the agents of a cluster, the taken-over pods that lack one, and pods left native."""

from pathlib import Path
from typing import TYPE_CHECKING

from probelet.base.printable import one_line
from probelet.cli.exit import CliError, Exit
from probelet.cli.terminal import console, print_json

if TYPE_CHECKING:
    from probelet.daemon.cluster.coverage import ClusterDocument


def show_coverage(kubeconfig: Path | None, context: str, namespace: str, output: str) -> int:
    """Prints which nodes have a live agent; exits with 1 if a taken-over pod lacks one."""
    from probelet.daemon.cluster.coverage import coverage
    from probelet.errors import DaemonError

    try:
        document = coverage(kubeconfig, context, namespace)
    except DaemonError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    if output == "json":
        import msgspec

        print_json(msgspec.json.encode(document), indented=True)
    else:
        _print(document)
    return Exit.FAILED if document["uncovered"] else Exit.GOOD


def _print(document: "ClusterDocument") -> None:
    out = console()
    rows = [["NODE", "AGENT", "RENEWED", "PODS"]]
    for node in document["nodes"]:
        rows.append([node["node"], node["agent"], node["renewed_at"] or "never", str(node["pods"])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for index, row in enumerate(rows):
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        out.print(one_line(line), style=None if index else "bold", soft_wrap=True, highlight=False)
    for pod in document["uncovered"]:
        # The gate of a new container stays closed, and nothing ends one that hangs.
        left = "ready as the last agent left it" if pod["ready"] else "not ready"
        said = f"no agent on {pod['node']} probes {pod['namespace']}/{pod['name']}: {left}"
        out.print(one_line(said), style="red", soft_wrap=True, highlight=False)
    for native in document["native"]:
        said = f"native probes on {native['node']}: {native['namespace']}/{native['name']}: {native['why']}"
        out.print(one_line(said), style="yellow", soft_wrap=True, highlight=False)
