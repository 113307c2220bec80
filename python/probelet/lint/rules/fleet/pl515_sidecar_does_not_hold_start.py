"""PL515: the containers behind a sidecar do not wait for its readiness."""

from collections.abc import Iterator

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for sidecars with readiness and without a startup probe."""
    probe = container.readiness
    if container.role != "sidecar" or probe is None or container.startup is not None:
        return
    yield container.hit(
        "readinessProbe",
        f"the next container starts as soon as sidecar {container.name} runs, and does not wait for its readiness, "
        f"whose first success may come {probe.bounds.first_probe.latest} s later or more; only a startupProbe holds "
        "the next container back",
    )


RULE = Rule(
    id="PL515",
    name="sidecar-does-not-hold-start",
    severity="info",
    summary="A sidecar with readiness and without a startup probe does not hold the containers behind it back.",
    why="""
An init container with `restartPolicy: Always` is a sidecar: it starts before the containers behind it and runs beside
them. The next container starts when the sidecar is *started*, and without a startup probe that is the moment at which
its process exists. Readiness plays no part in it; it only counts for the pod's Ready condition. A program that needs
its proxy or its database on localhost for the first request then fails at some starts, and not at others.
""",
    source=(
        "KEP-753",
        "https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/",
    ),
    fix="""
Give the sidecar a startupProbe with the same handler and a short period.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   initContainers:
     - name: proxy
       image: registry.example/proxy:1
       restartPolicy: Always
-      readinessProbe:
+      startupProbe:
         httpGet: {path: /readyz, port: 9000}
   containers:
     - name: web
       image: registry.example/web:1
""",
    check=on_containers(check),
)
