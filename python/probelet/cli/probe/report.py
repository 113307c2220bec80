"""Prints a probe for a person: the probe, how long its parts took, and the result."""

import shlex
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from probelet.base.printable import one_line
from probelet.cli.probe.target import Target
from probelet.cli.terminal import console, print_json, unicode_in
from probelet.spec.text.golang import go_quote

# Length of the bar of the longest part.
BAR_COLUMNS = 32
# Lines of output to show; -o json has all of it.
OUTPUT_LINES_MAX = 12

_STYLES = {"success": "green", "warning": "yellow", "failure": "red", "error": "yellow"}
_MARKS = {"success": "✓", "warning": "✓", "failure": "✗", "error": "!"}
_ASCII_MARKS = {"success": "+", "warning": "+", "failure": "x", "error": "!"}
# The prober's treatment of the outcome (prober.go:probe and worker.go:doProbe, 1.36).
_MEANING = {
    "warning": "counts as a success, with an event ProbeWarning at every run",
    "error": "counts neither as a failure nor as a success",
}


def show(seen: dict[str, Any], target: Target, output: str) -> None:
    """Prints a ``probelet-probe/1`` document, as JSON or for a person."""
    if output == "json":
        print_json(msgspec.json.encode(seen))
    else:
        report(seen, target, console())


def report(seen: dict[str, Any], target: Target, out: Console) -> None:
    """Prints the document in a few lines."""
    unicode = unicode_in(out.encoding)
    out.print(Text(question(target), "bold"), soft_wrap=True)
    if target.title:
        out.print(Text(target.title, "dim"), soft_wrap=True)
    for line in _timings(seen["phases_ms"], unicode=unicode):
        out.print(line)
    outcome = seen["outcome"]
    mark = (_MARKS if unicode else _ASCII_MARKS)[outcome]
    line = Text.assemble((f"{mark} {outcome}", _STYLES[outcome]), f" in {seen['duration_ms']:.1f} ms")
    if seen["cause"] != "ok":
        line.append(f", cause {seen['cause']}")
    if seen.get("exit_code"):
        line.append(f", exit code {seen['exit_code']}")
    if seen["tries"] > 1:
        line.append(f", after {seen['tries']} tries")
    out.print(line, soft_wrap=True)
    if outcome in _MEANING:
        out.print(Text(f"  {_MEANING[outcome]}", "dim"), soft_wrap=True)
    for shown in output_lines(seen["error"] or seen["output"]):
        out.print(Text(f"  {shown}"), soft_wrap=True)


def question(target: Target) -> str:
    """Describes the probe in one line, with the values that the prober uses."""
    probe, ip = target.probe, target.pod_ip
    numbers = dict(target.ports)
    seconds = f"timeout {probe.timeout_seconds} s" if probe.timeout_seconds else "no timeout"
    match probe.handler:
        case "httpGet" if action := probe.http_get:
            scheme = (action.scheme or "http").lower()
            path = action.path if action.path.startswith("/") else f"/{action.path}"
            over = " over HTTP/2" if action.protocol == "HTTP2" else ""
            at = _at(action.host or ip, numbers.get(str(action.port), action.port))
            return one_line(f"GET {scheme}://{at}{path}{over} ({seconds})")
        case "tcpSocket" if connect := probe.tcp_socket:
            return one_line(
                f"connect to {_at(connect.host or ip, numbers.get(str(connect.port), connect.port))} ({seconds})"
            )
        case "grpc" if call := probe.grpc:
            service = f" of service {go_quote(call.service)}" if call.service else ""
            over = " over TLS" if call.mode == "TLS" else ""
            return one_line(f"grpc.health.v1.Health/Check{service} at {_at(ip, call.port)}{over} ({seconds})")
        case "exec" if run := probe.exec:
            return one_line(f"exec {shlex.join(run.command)} ({seconds})")
    return "no handler"


def _at(host: str, port: int | str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _timings(timings: dict[str, float], *, unicode: bool) -> list[Text]:
    # A bar compares parts, so a single part gets none.
    longest = max(timings.values()) if len(timings) > 1 else 0.0
    lines = []
    for name, spent in timings.items():
        columns = round(BAR_COLUMNS * spent / longest) if longest else 0
        lines.append(Text.assemble(f"  {name:<8}{spent:>10.3f} ms  ", (("█" if unicode else "#") * columns, "cyan")))
    return lines


def output_lines(output: str) -> list[str]:
    """The first lines of an output, without characters that a terminal would obey."""
    lines = [one_line(line) for line in output.rstrip("\n").splitlines()]
    if len(lines) > OUTPUT_LINES_MAX:
        hidden = len(lines) - OUTPUT_LINES_MAX
        return [*lines[:OUTPUT_LINES_MAX], f"({hidden} more lines; -o json has all)"]
    return lines
