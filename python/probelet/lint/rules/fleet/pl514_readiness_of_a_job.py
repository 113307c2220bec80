"""PL514: a readiness probe of a pod that gets no requests."""

from collections.abc import Iterator

from probelet.lint.facts.clients import JOBS
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for readiness in the pods of Jobs."""
    workload = probe.container.workload
    if workload.kind in JOBS and not workload.services:
        yield probe.hit(
            "",
            f"no Service selects the pods of this {workload.kind}, so readiness decides nothing: the "
            f"probe runs every {probe.timing.period} s for it",
        )


RULE = Rule(
    id="PL514",
    name="readiness-of-a-job",
    severity="info",
    summary="A readiness probe in a Job's pod, which no Service selects, does nothing.",
    why="""
Readiness decides whether a pod is an endpoint of its Services, and how far a roll-out is. The pods of a Job have
neither. The Job's controller counts pods that have succeeded or failed; `status.ready` is for people to read. The probe
costs attempts and writes a warning into the events for each one that fails. A liveness probe does have an effect: it
ends a worker that hangs, and counts as a failure of the pod.
""",
    source=(
        "https://kubernetes.io/docs/concepts/workloads/controllers/job/",
        "kubernetes/pkg/controller/job/job_controller.go, 1.36",
    ),
    fix="""
Remove the probe. For a worker that may hang, use activeDeadlineSeconds or a liveness probe.
""",
    example="""
 apiVersion: batch/v1
 kind: Job
 metadata: {name: web}
 spec:
   template:
     spec:
       restartPolicy: Never
       containers:
         - name: web
           image: registry.example/web:1
-          readinessProbe:
+          livenessProbe:
             exec:
               command: [cat, /tmp/alive]
""",
    check=on_probes(check, "readiness"),
)
