"""PL502: processes of the command may live on after its timeout."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.command.shell import program, script, simple_command
from probelet.lint.command.statements import statements
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_BACKGROUND: Final = re.compile(r"(?<![&><|\\])&(?![&>0-9-])")
_WAIT: Final = re.compile(r"\bwait\b")
_JOINED: Final = re.compile(r"[;|\n]|&&")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|#[^\n]*")
_CLIENTS: Final = frozenset({"curl", "wget", "nc", "psql", "mysql", "redis-cli", "mongosh", "mongo", "kubectl", "ssh"})
_LIMIT: Final = re.compile(
    r"\btimeout\b|--max-time|--connect-timeout|--timeout|--request-timeout|(^|\s)-(m|w|W|T|t)\s*[0-9.]+|ConnectTimeout"
)


def check(probe: LintProbe) -> Iterator[Hit]:
    """Reads the text of a shell."""
    text = script(probe.argv)
    if text is None:
        return
    timeout = probe.timing.timeout
    bare = _QUOTED.sub("", text)
    if _BACKGROUND.search(bare) and not _WAIT.search(bare):
        yield probe.hit(
            "exec.command",
            f"the command leaves a process in the background every {probe.timing.period} s; neither the command's end "
            f"nor the timeout of {timeout} s ends it, and if it hangs, there is one more after each attempt",
        )
        return
    client = next((program(words) for words in statements(probe.argv) if program(words) in _CLIENTS), None)
    # A shell with one program becomes this program, and the runtime kills it.
    if client is not None and _JOINED.search(bare) and simple_command(probe.argv) is None and not _LIMIT.search(text):
        yield probe.hit(
            "exec.command",
            f"{client} has no time limit of its own inside a shell: after {timeout} s the attempt fails, and a runtime "
            f"that kills only the shell leaves {client} behind; write `timeout {timeout} {client} ...`",
            severity="info",
            said_by=("PL520",),
        )


RULE = Rule(
    id="PL502",
    name="command-outlives-timeout",
    severity="warning",
    summary="Processes of the command may live on when the attempt is over.",
    why="""
At the timeout the runtime kills the process that it started, and that is the shell. What the shell has started itself
gets no signal: it becomes a child of the container's main process, which mostly does not reap it. An attempt that
hangs leaves one such process, the next attempt another one, until the container has no memory or no process numbers
left. Pods with thousands of `curl` are how people find out.

A process in the background is the sure form. A client without a limit of its own, in a shell that does more than run
it, is information: it needs a server that hangs.
""",
    source=(
        "https://github.com/containerd/containerd/issues/9568",
        "https://github.com/kubernetes/kubernetes/issues/110070",
    ),
    fix="""
Wait for everything that the command starts, and give clients a limit below timeoutSeconds.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         exec:
-          command: [sh, -c, "/bin/collect & test -f /tmp/alive"]
+          command: [sh, -c, "test -f /tmp/alive"]
""",
    check=on_probes(check),
)
