"""PL413: the server of the port speaks another protocol than the probe."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_GRPC: Final = re.compile(r"(.+-)?grpc(-.+)?")
_GATEWAY: Final = re.compile(r"web|gateway|gw|http")
_TLS: Final = re.compile(r"grpcs|(.+-)?(tls|ssl|https)(-.+)?")
_TLS_OPTION: Final = re.compile(r"--?grpc[\w.-]*(tls|cert)[\w.-]*(=.*)?")


def check(probe: LintProbe) -> Iterator[Hit]:
    """Compares the handler with the port's name and the container's options."""
    number = probe.port_number
    name = next((entry.name for entry in probe.container.spec.ports if entry.container_port == number), "")
    if probe.handler == "httpGet" and probe.spec.http_get is not None:
        if _GRPC.fullmatch(name) and probe.spec.http_get.protocol is None and not _GATEWAY.search(name):
            yield probe.hit(
                "httpGet.port",
                f"port {number} ({name}) is for gRPC by its name, and the probe speaks HTTP/1.1: a server of gRPC "
                f"alone refuses it, and then {of_failing(probe)}; use a grpc probe",
            )
    elif probe.handler == "grpc" and probe.spec.grpc is not None and (probe.spec.grpc.mode or "Plaintext") != "TLS":
        reason = _reason(probe, name)
        release = probe.container.workload.settings.kubelet_version
        if reason is not None:
            yield probe.hit(
                "grpc",
                f"{reason}, and a grpc probe without grpc.mode speaks no TLS (Kubernetes {release}): if port {number} "
                f"needs it, {of_failing(probe)}",
            )


def _reason(probe: LintProbe, name: str) -> str | None:
    """Why the port probably has TLS; None if nothing says so."""
    if _TLS.fullmatch(name):
        return f"port {probe.port_number} ({name}) is for TLS by its name"
    words = [*probe.container.spec.command, *probe.container.spec.args]
    option = next((word for word in words if _TLS_OPTION.fullmatch(word)), None)
    return None if option is None else f"the container has the option {option.partition('=')[0]}"


RULE = Rule(
    id="PL413",
    name="protocol-against-port",
    severity="warning",
    summary="The port's server probably speaks TLS or gRPC, and the probe does not.",
    why="""
A gRPC probe connects without TLS. A server that wants TLS closes the connection, and the attempt fails. A field for
TLS, `grpc.mode`, comes with Kubernetes 1.37 behind the gate GRPCContainerProbeTLS. An HTTP probe speaks HTTP/1.1, which
a server of gRPC alone refuses.

A probe that always fails is found at the first roll-out. This rule finds it before, and guesses from the port's name
and the container's options.
""",
    source=(
        "KEP-4939",
        "KEP-5999",
        "https://github.com/kubernetes/kubernetes/issues/125599",
    ),
    fix="""
Serve health on a port without TLS, or use `grpc_health_probe -tls` as a command; a grpc probe for a gRPC port.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
-      ports: [{name: grpc-tls, containerPort: 9443}]
+      ports:
+        - {name: grpc-tls, containerPort: 9443}
+        - {name: health, containerPort: 9000}
       livenessProbe:
-        grpc: {port: 9443}
+        grpc: {port: 9000}
""",
    check=on_probes(check),
    confidence="heuristic",
)
