"""PL419: the command of a probe holds a secret."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from probelet.lint.command.shell import program, script
from probelet.lint.command.statements import statements
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_TEXT: Final = re.compile(
    r"(?P<name>--(?:password|passwd|pass|token|secret|api-key)[= ]|"
    r"(?<![A-Z_${])[A-Z_]*(?:PASSWORD|PASSWD|MYSQL_PWD|REDISCLI_AUTH|TOKEN|SECRET|API_KEY)=)"
    r"(?P<value>[^\s$`\"';|&)]{3,})|"
    r"://[^/\s:@$]+:(?P<in_url>[^/\s:@$`]{3,})@|"
    r"Authorization: *(?:Bearer|Basic) +(?P<header>[^\s$`\"']{3,})"
)
_SECRET_VARIABLE: Final = re.compile(r"\$\{?\w*(?:PASS|PASSWORD|PASSWD|PWD|TOKEN|SECRET|AUTH)\w*\}?", re.IGNORECASE)
_SHORT: Final = {
    **dict.fromkeys(("mysql", "mysqladmin", "mariadb", "mariadb-admin", "mysqlshow"), "-p"),
    **dict.fromkeys(("redis-cli", "valkey-cli"), "-a"),
    "curl": "-u",
}
"""Program -> its option with a password; that of the first ones has its value right behind it."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for options, variables and addresses with a value that stands in the manifest."""
    what = _in_text(" ".join(probe.argv)) or next(filter(None, map(_in_option, statements(probe.argv))), None)
    if what is not None:
        yield probe.hit(
            "exec.command",
            f"{what} has a value that looks like a secret: everybody who may read pods reads it, and every process of "
            f"the node sees it each {probe.timing.period} s among the arguments",
        )
    elif script(probe.argv) is not None and (put := next(filter(None, map(_expanded, statements(probe.argv))), None)):
        option, variable = put
        yield probe.hit(
            "exec.command",
            f"the shell puts the value of {variable} into {option}: every process of the node that may list processes "
            f"sees the secret each {probe.timing.period} s among the arguments",
            severity="info",
        )


def _in_text(text: str) -> str | None:
    """The name of an option or a variable with a literal value."""
    found = _TEXT.search(text)
    if found is None or (found["value"] or "").startswith(("-", "/", "<")):
        return None
    return (found["name"] or "").rstrip("= ") or ("the address" if found["in_url"] else "the header Authorization")


def _expanded(words: list[str]) -> tuple[str, str] | None:
    """An option with a password, and the variable that a shell puts in for it."""
    name = program(words)
    short = _SHORT.get(name, "--password")
    for word, following in pairwise([*words, ""]):
        joined = word if word.startswith(("--password=", "--pass=", "--token=", short)) else ""
        value = (
            f"{word} {following}" if word in ("--password", "--pass", "--token") or word == short != "-p" else joined
        )
        found = _SECRET_VARIABLE.search(value)
        if found is not None:
            return f"{re.split(r'[= $]', value)[0]} of {name}", found[0]
    return None


def _in_option(words: list[str]) -> str | None:
    """The short option of a client with a literal password."""
    option = _SHORT.get(program(words), "")
    for word, following in pairwise([*words, ""]):
        value = word[2:] if word.startswith(option) and len(word) > 2 else following if word == option != "-p" else ""
        if option and len(value) >= 3 and not re.search(r"[$`]", value) and (option != "-u" or ":" in value):
            return f"{option} of {program(words)}"
    return None


RULE = Rule(
    id="PL419",
    name="secret-in-command",
    severity="warning",
    summary="The command of the probe holds a password or a token.",
    why="""
A command of a probe is a part of the pod, which everybody with the right to list pods can read, and which backups and
audit logs keep. The arguments of a process are public on its node as well: `ps` shows them each time that the probe
runs.

A variable of the environment that comes from a Secret stays out of the manifest, but not out of the arguments: a shell
that runs `mysqladmin -p$MYSQL_ROOT_PASSWORD` starts a process with the password in them (information). `$(NAME)` is no
way to do it: the kubelet replaces literal values only, and puts them into the arguments.
""",
    source=(
        "kubeflow/manifests: mysqladmin ping with a password in its arguments",
        "kubernetes/third_party/forked/golang/expansion, 1.36",
    ),
    fix="""
Let a shell read it from the environment, in a form that is no argument: `MYSQL_PWD="$MYSQL_ROOT_PASSWORD" mysql ...`,
`REDISCLI_AUTH`, `PGPASSFILE`. `mysqladmin ping` and `pg_isready` need no password at all.
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
-          command: [mysqladmin, ping, -u, root, -phunter2hunter2]
+          command: [mysqladmin, ping]
""",
    check=on_probes(check),
    confidence="heuristic",
)
