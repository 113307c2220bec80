"""PL504: the load of a node full of such pods."""

from collections.abc import Iterator

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule, on_workloads
from probelet.lint.settings import Settings


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Adds up the attempts of a pod, for as many pods as the setting says."""
    pods = workload.settings.pods_per_node
    found = [each for container in workload.probed for each in container.probes.values() if each.type != "startup"]
    if pods is None or not found:
        return
    rate = pods * sum(1 / probe.timing.period for probe in found)
    commands = pods * sum(1 / probe.timing.period for probe in found if probe.handler == "exec")
    text = f"{rate:.3g} attempts a second"
    if commands:
        text += f", {commands:.3g} of them commands, which need {0.02 * commands:.1f} to {0.05 * commands:.1f} CPUs"
    yield workload.hit(workload.in_pod("spec"), f"a node with {pods} such pods has {text}")


RULE = Rule(
    id="PL504",
    name="load-of-a-node",
    severity="info",
    summary="What the probes of a node full of such pods cost.",
    why="""
One probe is nothing, a node full of them is a load that no dashboard shows: the kubelet opens a connection for each
attempt of HTTP, TCP and gRPC, and for each command the runtime starts a process, at 20 to 50 ms of CPU. A node of
110 real pods has about 29 attempts a second. With commands every second the node is busy with its probes alone, and
their attempts run late.

The rule only speaks when the setting `pods-per-node` says how many such pods a node has.
""",
    formula="pods x the sum of 1/p",
    source=("https://github.com/kubernetes/kubernetes/issues/110070",),
    fix="""
Longer periods, and other handlers in place of commands.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
-      livenessProbe:
-        httpGet: {path: /livez, port: 8080}
-        periodSeconds: 5
""",
    settings=Settings(pods_per_node=100),
    check=on_workloads(check),
)
