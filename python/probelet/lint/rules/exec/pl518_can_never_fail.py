"""PL518: the command succeeds whatever the container does."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.command.shell import program, script, simple_command
from probelet.lint.command.statements import statements
from probelet.lint.rule import Hit, Rule, on_probes
from probelet.lint.world.probe import LintProbe

_PROCESS_1: Final = re.compile(r"/proc/(1|self)(/.*)?")
_DIRECTORY: Final = re.compile(r"/|/(proc|tmp|dev|etc|bin|usr)/?")
_FILE: Final = re.compile(r"/proc/(1|self)/.+|/etc/(passwd|hosts|hostname|resolv\.conf|os-release)")
_NOTHING: Final = frozenset({"true", ":", "echo", "printf", "date", "hostname", "whoami", "id", "pwd"})
_SWALLOWED: Final = re.compile(r"(\|\||;)\s*(true|:|exit\s+0|echo\b[^|&;]*)\s*;?\s*$")
_BRANCHES: Final = re.compile(r"\n|\b(if|while|case|exec|return)\b|\bexit\s+[^0\s]|\bset\s+-\w*e|[{(]")
_JOINED: Final = re.compile(r"[;|]|&&")


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for commands whose success is sure."""
    reason = _of_text(script(probe.argv)) or _of_words(_only_program(probe.argv))
    if reason is None:
        return
    effect = {
        "liveness": "it finds nothing that hangs",
        "readiness": "the pod is ready as soon as it runs",
        "startup": "every start is over at once",
    }
    yield probe.hit(
        "exec.command",
        f"{reason}, so the command cannot fail while the container runs: {effect[probe.type]}, and "
        f"{86400 // probe.timing.period:,} processes a day start for it",
    )


def _only_program(argv: list[str]) -> list[str]:
    """The one program of a command with its arguments; empty if a shell does more than run it."""
    text = script(argv)
    if text is None or simple_command(argv) is not None:
        return simple_command(argv) or []
    parts = list(statements(argv))
    return parts[0] if len(parts) == 1 and not _JOINED.search(text) and not _BRANCHES.search(text) else []


def _of_words(words: list[str]) -> str | None:
    """Why one program always succeeds; None if it may fail."""
    name, option = program(words), next((word for word in words[1:] if word.startswith("-")), "")
    plain = [word for word in words[1:] if not word.startswith("-") and word != "]"]
    path = plain[0] if len(plain) == 1 else ""
    if name in _NOTHING or (name == "exit" and plain in ([], ["0"])):
        return f"{' '.join([name, *plain[:1]])} always succeeds"
    if name == "kill" and words[1:] == ["-0", "1"]:
        return "process 1 exists as long as the container does"
    if name in ("cat", "head"):
        is_there = _FILE.fullmatch(path)
    elif name in ("ls", "stat") or (name in ("test", "[") and option in ("-d", "-e")):
        is_there = _PROCESS_1.fullmatch(path) or _DIRECTORY.fullmatch(path)
    else:
        return None
    return None if is_there is None else f"{path} exists as long as the container does"


def _of_text(text: str | None) -> str | None:
    """Why the text of a shell always succeeds; None if it may fail."""
    if text is None or "\n" in text.strip():
        return None
    if (found := _SWALLOWED.search(text)) is not None and not _BRANCHES.search(text):
        return f"{found[0].strip()!r} at the end makes a success of every failure"
    parts = list(statements(["sh", "-c", text]))
    for words in parts:
        options = "".join(word for word in words[1:] if re.fullmatch(r"-[a-z]+", word))
        # A bracket in the pattern keeps it from finding itself, and a shell that runs one program becomes this program.
        is_open = len(words) > 1 and not re.search(r"[\[^]", words[-1]) and "x" not in options and "v" not in options
        if program(words) == "pgrep" and "f" in options and is_open and _JOINED.search(text):
            return "pgrep -f finds the shell that runs it, because the text stands in the shell's arguments too"
        if [program(each) for each in parts] == ["ps", "grep"] and program(words) == "grep" and is_open:
            return "grep finds its own line in the output of ps"
    return None


RULE = Rule(
    id="PL518",
    name="can-never-fail",
    severity="warning",
    summary="The command succeeds as long as the container runs.",
    why="""
`cat /proc/1/status`, `test -d /proc/1`, `echo ok`, `ls /`: such probes were written because a rule somewhere demands
one. Process 1 is the container's main process; when it ends, the container ends, and the kubelet knows without a probe.
The probe costs processes and finds nothing, and its readiness sends requests to a server that does not listen yet.

Two forms look serious. `sh -c 'pgrep -f X || exit 1'` finds the shell itself, because X stands in the shell's own
arguments. `ps | grep X` finds the grep.
""",
    source=(
        "Azure-Samples/aks-store-demo: cat /proc/1/status",
        "argo-cd redis-ha: test -d /proc/1",
        "https://github.com/kyverno/policies: deny-commands-in-exec-probe",
    ),
    fix="""
Ask the server, or remove the probe: without one, the kubelet restarts a container whose process ends.
""",
    bad="""
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe:
        exec:
          command: [cat, /proc/1/status]
""",
    good="""
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe:
        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
    confidence="heuristic",
)
