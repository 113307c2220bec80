"""PL414: the target release does not have a field of the probe, or drops it."""

from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.spec.annotation.initialization import ANNOTATION

_GRPC_TLS: Final = "GRPCContainerProbeTLS"
_H2C: Final = "H2CContainerProbe"
_PATIENCE: Final = "initializationFailureThreshold"


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for fields behind gates that are off in the target release."""
    settings = probe.container.workload.settings
    release = settings.kubelet_version
    get, grpc = probe.spec.http_get, probe.spec.grpc
    if probe.handler == "grpc" and grpc is not None and grpc.mode == "TLS" and not settings.has_gate(_GRPC_TLS):
        yield probe.hit(
            "grpc.mode",
            f"Kubernetes {release} drops grpc.mode unless the gate {_GRPC_TLS} is on: the probe connects without TLS, "
            f"and then {of_failing(probe)}",
        )
    if probe.handler == "httpGet" and get is not None and get.protocol == "HTTP2" and not settings.has_gate(_H2C):
        yield probe.hit(
            "httpGet.protocol",
            f"Kubernetes {release} drops httpGet.protocol unless the gate {_H2C} is on: the probe speaks HTTP/1.1, and "
            f"if the server does not, {of_failing(probe)}",
        )
    if probe.is_written(_PATIENCE):
        yield probe.hit(
            _PATIENCE,
            f"no API server has {_PATIENCE}, so it is lost on the way to the node; the annotation {ANNOTATION} on the "
            f"pod gets there, with {probe.spec.initialization_failure_threshold}",
            severity="info",
        )


RULE = Rule(
    id="PL414",
    name="field-of-a-later-release",
    severity="warning",
    summary="The target release drops a field of the probe.",
    why="""
An API server drops a field whose feature gate is off, and says nothing. The manifest has `grpc.mode: TLS`, the pod in
the cluster has not, and the probe speaks plain text to a server with TLS. Older servers refuse or drop the field too,
as one that they do not know. The release is the one of `--kubelet-version`; a gate that is on in your cluster makes the
finding void.
""",
    source=(
        "KEP-4939",
        "KEP-5999",
        "KEP-950",
        "kubernetes/pkg/api/pod/util.go: dropDisabledFields, 1.37",
    ),
    fix="""
Turn on the gate in the API server and the kubelets before the roll-out, or do without the field.
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
-        grpc: {port: 9000, mode: TLS}
+        grpc: {port: 9000}
""",
    check=on_probes(check),
)
