"""PL417: no NetworkPolicy of the pod lets anything in on the probe's port."""

from collections.abc import Iterator
from typing import Any

from probelet.lint.facts.consequence import of_failing
from probelet.lint.finding import Hit
from probelet.lint.model.neighbour import NetworkPolicy
from probelet.lint.model.workload import LintProbe, Scope
from probelet.lint.rule import Rule, on_probes
from probelet.spec.model.probe_options import options_of


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for a rule of any policy that has the probe's port. A policy is one thing to change: one finding."""
    policies = _policies(probe)
    if not policies or next(_closed_to(policies[0], probe.container.workload.scope), None) is not probe:
        return
    number = probe.port_number
    yield probe.hit(
        f"{probe.handler}.port",
        f"NetworkPolicy {policies[0].metadata.name} lets nothing in on port {number}: Kubernetes lets the pod's own "
        f"node in all the same, but some network plugins do not, and then {of_failing(probe)}; the finding stands for "
        "every workload of this policy",
    )


def _policies(probe: LintProbe) -> list[NetworkPolicy]:
    """The policies about traffic into the pod, if none of them lets the probe in; empty if one does."""
    number, workload = probe.port_number, probe.container.workload
    policies = [
        policy
        for policy in workload.network_policies
        if "Ingress" in policy.spec.policy_types or not policy.spec.policy_types
    ]
    if number is None or probe.host or workload.pod.spec.host_network or options_of(probe.spec).network == "pod":
        return []
    names = {entry.name for entry in probe.container.spec.ports if entry.container_port == number and entry.name}
    rules = [rule for policy in policies for rule in policy.spec.ingress]
    return [] if any(_has_port(rule, number, names) for rule in rules) else policies


def _closed_to(policy: NetworkPolicy, scope: Scope) -> Iterator[LintProbe]:
    """The probes that this policy keeps out, in the order of the files."""
    for workload in scope.workloads:
        for container in workload.probed:
            for probe in container.probes.values():
                if policy in _policies(probe)[:1]:
                    yield probe


def _has_port(rule: dict[str, Any], number: int, names: set[str]) -> bool:
    """True if a rule is about the port, or about all of them. What it has not as it should be counts as open."""
    ports = rule.get("ports")
    if not isinstance(ports, list) or not ports:
        return True
    for entry in ports:
        if not isinstance(entry, dict) or entry.get("port") is None or entry["port"] in names:
            return True
        first, last = entry["port"], entry.get("endPort", entry["port"])
        if isinstance(first, int) and isinstance(last, int) and first <= number <= last:
            return True
    return False


RULE = Rule(
    id="PL417",
    name="network-policy-without-port",
    severity="info",
    summary="NetworkPolicies select the pod, and none lets anything in on the probe's port.",
    why="""
Kubernetes promises that traffic between a pod and its own node is always allowed, so that probes work under any
NetworkPolicy. The promise is the network plugin's to keep, and some break it: in certain modes, on certain kernels, or
after an update. A policy that denies everything then stops the probes as well, and a healthy container is killed.

This is information: whether it matters depends on the plugin, which no manifest names.
""",
    source=(
        "https://kubernetes.io/docs/concepts/services-networking/network-policies/",
        "https://github.com/k3s-io/k3s/issues/10030",
        "https://github.com/kubernetes-sigs/kube-network-policies/issues/65",
    ),
    fix="""
Let the addresses of the nodes in on the probe's port, or try the policy with your plugin before the roll-out.
""",
    example="""
 apiVersion: v1
 kind: List
 items:
   - apiVersion: networking.k8s.io/v1
     kind: NetworkPolicy
     metadata: {name: deny}
     spec:
       podSelector: {}
       policyTypes: [Ingress]
+      ingress: [{ports: [{port: 8080}]}]
   - apiVersion: v1
     kind: Pod
     metadata: {name: web}
     spec:
       containers:
         - name: web
           image: registry.example/web:1
           livenessProbe:
             httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check),
    confidence="heuristic",
)
