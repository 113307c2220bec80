"""PL503: a command that takes long to start has the default timeout of 1 s."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_SLOW: Final = frozenset(
    {
        *("java", "nodetool", "cqlsh", "jcmd", "jstack", "kafka-topics.sh", "kafka-broker-api-versions.sh"),
        *("rabbitmqctl", "rabbitmq-diagnostics", "mongosh", "python", "python3", "node", "ruby", "php", "perl"),
        *("kubectl", "aws", "gcloud", "az", "rails", "manage.py", "celery", "npm", "npx", "artisan"),
    }
)
"""Programs with a run-time system that alone needs a tenth of a second to several seconds of CPU to start."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for programs that start slowly."""
    if probe.is_written("timeoutSeconds") or probe.handler != "exec":
        return
    name = next((program(words) for words in statements(probe.argv) if program(words) in _SLOW), None)
    if name is not None:
        yield probe.hit(
            "exec",
            f"{name} has the default timeout of {probe.timing.timeout} s, in which it has to start, work and end; on a "
            "busy node its start alone may take longer; write timeoutSeconds",
        )


RULE = Rule(
    id="PL503",
    name="slow-command-default-timeout",
    severity="warning",
    summary="A command that takes long to start has no timeoutSeconds, which means 1 s.",
    why="""
Until Kubernetes 1.20 nobody enforced the timeout of commands. Since then an attempt fails after `timeoutSeconds`, and
the default is 1 s. The time begins before the process exists: the runtime's work counts, then the start of the
interpreter or the virtual machine, then the check itself. `rabbitmq-diagnostics`, `nodetool` and `mongosh` need more
than a second even on an idle node; under load every replica fails at once.

Small programs such as `cat`, `redis-cli` or `pg_isready` are no finding.
""",
    source=(
        "https://kubernetes.io/blog/2020/12/08/kubernetes-1-20-release-announcement/",
        "KEP-1972",
    ),
    fix="""
Write timeoutSeconds with several times what the command needs on an idle node.
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
           command: [rabbitmq-diagnostics, -q, ping]
         periodSeconds: 30
+        timeoutSeconds: 15
""",
    check=on_probes(check),
    confidence="heuristic",
)
