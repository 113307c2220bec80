"""PL421: a probe from inside its pod that cannot reach its host, or that has no pod's network to be inside of."""

from collections.abc import Iterator

from probelet.lint.change import Fix, Remove
from probelet.lint.facts.asked import where
from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes
from probelet.spec.model.probe_options import options_of


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks at the option ``network``."""
    handler, host = probe.handler, probe.host
    if options_of(probe.spec).network is None or handler is None:
        return
    if probe.container.workload.pod.spec.host_network:
        text = "network: pod changes nothing: the pod is on the node's network, so the probe is made from the node"
        yield probe.hit(handler, text, severity="info")
    elif host and where(probe.container, host) in ("other", "own service"):
        field = f"{handler}.host"
        yield probe.hit(
            field,
            f"with network: pod the probe reaches addresses of its pod alone, and {host} is none: every attempt fails, "
            f"and {of_failing(probe)}",
            fix=Fix("remove host: the pod's address is the default", (Remove(f"{probe.path}.{field}"),)),
        )


RULE = Rule(
    id="PL421",
    name="network-option",
    severity="warning",
    summary="A probe from inside its pod (network: pod) names a host elsewhere, or its pod has no network of its own.",
    why="""
With probelet's option `network: pod` a probe is made from inside the network of its pod, and the kernel lets it connect
to the pod's own addresses alone. So a `host` that is another machine, or a Service, is a failure in every attempt,
however well the host is. A pod with `hostNetwork` has no network of its own: its probes are made from the node as ever,
and reach what the node reaches.

A host whose address nobody can tell from the manifest is no finding.
""",
    source=("probelet, docs/probes.md: network", "linux, bind(2): EADDRNOTAVAIL"),
    fix="""
Remove `host`, or name `localhost` for a server that listens there alone. Take the option away from a probe that is to
ask something else than its pod, and from the probes of a pod with `hostNetwork`.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata:
   name: web
   annotations:
     probelet.dev/probe-options: '{"web": {"livenessProbe": {"network": "pod"}}}'
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
-        httpGet: {host: auth.example, path: /livez, port: 8080}
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
)
