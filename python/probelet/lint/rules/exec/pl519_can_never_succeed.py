"""PL519: the command fails whatever the container does."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.command.client import grpc_call
from probelet.lint.command.shell import SHELLS, program, script
from probelet.lint.command.statements import statements
from probelet.lint.facts.consequence import of_failing, of_no_program
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_OPERATORS: Final = frozenset({"||", "&&", "|", ";", ">", ">>", "2>&1", ">/dev/null"})
_DISTROLESS: Final = re.compile(r"(^|/)distroless(/|$)|(^|[/:_-])scratch([:_-]|$)")
_OF_SHELL: Final = re.compile(r"\$\{?[A-Z_][A-Z0-9_]*\}?")
_REFERENCE: Final = re.compile(r"(?<!\$)\$\(([A-Za-z_][\w.-]*)\)")
COMM: Final = 15
"""Characters of a process's name that the kernel keeps."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for commands whose failure is sure, or likely."""
    argv = probe.argv
    if not argv:
        return
    if len(argv) == 1 and re.search(r"\s", argv[0].strip()) and "\\" not in argv[0]:
        # A path with a space is possible, but Windows alone has such directories.
        yield probe.hit(
            "exec.command",
            f"the whole line {_short(argv[0])!r} is one word, and no program has this name: no attempt, each "
            f"{probe.timing.period} s, can start a program; {of_no_program(probe)}",
            severity="error",
            confidence="certain",
        )
        return
    yield from _without_value(probe)
    if script(argv) is None and program(argv) not in SHELLS:
        yield from _without_shell(probe, argv)
    yield from _pgrep(probe)
    image = probe.container.spec.image
    if _DISTROLESS.search(image) and "debug" not in image and program(argv) in {*SHELLS, "cat", "test", "curl", "wget"}:
        yield probe.hit(
            "exec.command",
            f"the image {image} by its name has no {program(argv)}: then no attempt starts; {of_no_program(probe)}",
            severity="info",
        )


def _without_value(probe: LintProbe) -> Iterator[Hit]:
    """References to variables whose value the kubelet does not put into commands of probes."""
    # The last entry of a name counts.
    entries = {entry.name: entry for entry in probe.container.spec.env}
    if (call := grpc_call([_REFERENCE.sub("", word) for word in probe.argv])) is not None and not call.host:
        # What is left is `:50051`, which is the container itself.
        return
    for name in _REFERENCE.findall(" ".join(probe.argv)):
        if name in entries and entries[name].value_from is not None:
            yield probe.hit(
                "exec.command",
                f"$({name}) becomes nothing: the kubelet puts only literal values into the commands of probes, and "
                f"{name} has valueFrom; let a shell expand ${name}",
                confidence="certain",
                said_by=("PL518",),
            )
            return


def _without_shell(probe: LintProbe, argv: list[str]) -> Iterator[Hit]:
    """Words that only a shell understands."""
    operator = next((word for word in argv[1:] if word in _OPERATORS), None)
    if operator is not None and not (program(argv) in ("find", "test", "[") and operator in (";", ">")):
        yield probe.hit(
            "exec.command",
            f"no shell runs the command: {operator!r} and the words behind it are arguments of {program(argv)}",
            confidence="certain",
            said_by=("PL518",),
        )
        return
    if any(program([word]) in SHELLS for word in argv[1:]):
        # `timeout 5 sh -c ...`: this shell expands.
        return
    found = (_OF_SHELL.search(word) for word in argv[1:] if not re.search(r"\s", word))
    variable = next((each[0] for each in found if each is not None), None)
    if variable is not None:
        yield probe.hit(
            "exec.command",
            f"no shell runs the command: {program(argv)} gets the text {variable}, and not the variable's value",
            confidence="certain",
            said_by=("PL518",),
        )


def _pgrep(probe: LintProbe) -> Iterator[Hit]:
    """A pattern that no name of a process has."""
    for words in statements(probe.argv):
        options = "".join(word.lstrip("-") for word in words[1:] if word.startswith("-") and len(word) < 5)
        if program(words) != "pgrep" or "f" in options or "--full" in words or len(words) < 2:
            continue
        pattern = words[-1]
        if "/" in pattern or (len(pattern) > COMM and re.fullmatch(r"[\w.-]+", pattern)):
            why = "which has no directory" if "/" in pattern else f"of which the kernel keeps {COMM} characters"
            yield probe.hit(
                "exec.command",
                f"without -f pgrep compares {pattern!r} with the name of each process, {why}: the pgrep of procps "
                f"never finds it, and {of_failing(probe)}",
            )


def _short(line: str) -> str:
    return line if len(line) <= 40 else f"{line[:37]}..."


RULE = Rule(
    id="PL519",
    name="can-never-succeed",
    severity="warning",
    summary="The command fails, or ends in an error, whatever the container does.",
    why="""
`command` is a list of words, and no shell reads it. A whole line in one word is the name of a program that does not
exist; `||`, `>` and `$NAME` are plain arguments. What an attempt counts as whose program cannot start depends on the
runtime. containerd answers with an error, and for the kubelet that is neither a success nor a failure: such a liveness
probe never kills. A runtime that answers with an exit code makes it a failure, and the container is killed again and
again; cri-dockerd does, and CRI-O has both answers in its code. With each of them the pod is never ready.

`$(NAME)` is replaced before, but only with values that stand in the manifest; one from a Secret or a field becomes
nothing.

`pgrep /usr/bin/app` looks like a check of a program by its path. The pgrep of procps compares names without their
directory, 15 characters at most, unless it has `-f`; the one of BusyBox compares the path as well. So whether the
probe ever succeeds depends on the image.
""",
    source=(
        "sourcegraph/deploy-sourcegraph: pgrep /usr/local/bin/executor",
        "kubernetes/pkg/probe/exec/exec.go: Probe, 1.36",
        "https://github.com/kubernetes/kubernetes/issues/106682 (containerd)",
        "https://github.com/kubernetes/kubernetes/issues/89862 (docker)",
        "cri-o/internal/oci/runtime_oci.go: ExecSyncContainer",
        "procps: pgrep.c, BusyBox: procps/pgrep.c",
    ),
    fix="""
One word per element of `command`, or `[sh, -c, "the line"]`; `pgrep -f` or `pgrep -x` with the name alone.
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
-          command: ["cat /tmp/alive"]
+          command: [cat, /tmp/alive]
""",
    check=on_probes(check),
    confidence="heuristic",
)
