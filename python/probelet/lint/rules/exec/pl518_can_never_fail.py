"""PL518: the command succeeds whatever the container does."""

from collections.abc import Iterator

from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for commands whose success is sure."""
    reason = why_it_succeeds(probe.argv)
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
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
-        exec:
-          command: [cat, /proc/1/status]
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
    confidence="heuristic",
)
