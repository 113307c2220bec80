"""PL501: commands of probes run often."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule, on_workloads

OFTEN: Final = 2
"""Seconds. A command with this period or a shorter one is a finding, whatever the others are."""

MOST: Final = 0.5
"""Commands a second and pod; two a second of them are a pod's share of a node that does nothing else."""


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Adds up the commands of a pod. Startup probes end with the start and do not count."""
    found = [
        probe
        for container in workload.probed
        for probe in container.probes.values()
        if probe.handler == "exec" and probe.type != "startup"
    ]
    rate = sum(1 / probe.timing.period for probe in found)
    fastest = min(found, key=lambda probe: probe.timing.period, default=None)
    if fastest is None or (fastest.timing.period > OFTEN and rate <= MOST):
        return
    period = fastest.timing.period
    yield fastest.hit(
        "periodSeconds" if fastest.is_written("periodSeconds") else "exec",
        f"the command starts every {period} s, {86400 // period:,} times a day, and all commands of the pod's "
        f"probes {rate:.2g} times a second: at 20 to 50 ms of CPU each they need {20 * rate:.0f} to "
        f"{50 * rate:.0f} millicores of the node",
        severity="warning" if rate > MOST else None,
        said_by=("PL520", "PL518"),
    )


RULE = Rule(
    id="PL501",
    name="exec-cost",
    severity="info",
    summary="Commands of probes run every few seconds, and each one is a process in the container.",
    why="""
For a command the kubelet asks the runtime, the runtime starts a shim's helper, enters the container's namespaces and
cgroups, and waits: 20 to 50 ms of CPU with containerd and runc, a hundred times an HTTP probe. A part of it counts
against the container's own limit. A hundred pods on a node with a command every second keep several cores busy with
nothing else, and then the probes themselves run late.

Above half a command a second and pod this is a warning, below it information.
""",
    formula="p <= 2 s, or the sum of 1/p of a pod above 0.5/s",
    source=(
        "https://github.com/kubernetes/kubernetes/issues/110070",
        "https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/#caution-exec-probes",
    ),
    fix="""
A longer period, or httpGet, tcpSocket or grpc; PL520 finds commands that can become one of them.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       readinessProbe:
         exec:
           command: [cat, /tmp/ready]
-        periodSeconds: 1
+        periodSeconds: 10
""",
    check=on_workloads(check),
)
