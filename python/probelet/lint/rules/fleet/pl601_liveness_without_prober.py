"""PL601: OpenKruise takes the liveness probe away, and nothing runs it."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintWorkload
from probelet.lint.rule import Rule, on_workloads

_ANNOTATION: Final = "apps.kruise.io/using-enhanced-liveness"


def check(workload: LintWorkload) -> Iterator[Hit]:
    """Looks for the annotation at pods with a liveness probe."""
    if workload.pod.metadata.annotations.get(_ANNOTATION) != "true":
        return
    for container in workload.probed:
        probe = container.liveness
        if probe is not None and probe.bounds.to_kill is not None:
            yield probe.hit(
                "",
                f"with the annotation {_ANNOTATION} OpenKruise's webhook removes this probe from the pod, and no "
                f"controller of its releases runs it: a container that hangs is then not killed after "
                f"{probe.bounds.to_kill.latest} s, but never",
            )


RULE = Rule(
    id="PL601",
    name="liveness-without-prober",
    severity="warning",
    summary="An annotation lets OpenKruise remove the liveness probe, which nothing runs then.",
    why="""
OpenKruise has a proposal for liveness with a limit for the whole workload. Its webhook is in the tree, behind the gate
EnhancedLivenessProbe: it takes the livenessProbe out of the pod and writes it into an annotation. The controller that
was to read this annotation is not (July 2026), so with the gate on the container has no liveness at all. With the gate
off, which is the default, the annotation does nothing and the kubelet runs the probe.
""",
    source=(
        "openkruise/kruise: pkg/webhook/pod/mutating/enhancedlivenessprobe_handler.go",
        "https://github.com/openkruise/kruise/pull/1535",
        "openkruise/kruise: docs/proposals/20240327-enhancedlivenessprobe.md",
    ),
    fix="""
Remove the annotation.
""",
    example="""
 apiVersion: v1
 kind: Pod
-metadata:
-  name: web
-  annotations: {apps.kruise.io/using-enhanced-liveness: "true"}
+metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
         httpGet: {path: /livez, port: 8080}
""",
    check=on_workloads(check),
    confidence="heuristic",
)
