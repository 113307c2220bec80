"""The webhook: its configuration, its Deployment, and what it may do."""

import pytest
from probelet.beside.takeover.fallback import read_fallback
from probelet.beside.takeover.namespace import SYSTEM
from probelet.cli.cluster.webhook import app
from probelet.spec.text.duration import MINUTE

from tests.unit.deploy.manifests.manifest import (
    BASE,
    COMPONENTS,
    MONITORING,
    NAMESPACE,
    OVERLAYS,
    container_of,
    documents,
    option,
    pod_of,
    read,
)

ALL = read(BASE)
DEPLOYMENT = ALL.one("Deployment", "probelet-webhook")
POD = pod_of(DEPLOYMENT)
CONTAINER = container_of(DEPLOYMENT)
(CONFIGURATION,) = ALL.kinds("MutatingWebhookConfiguration")
NAME = CONFIGURATION["metadata"]["name"]
WEBHOOKS = {webhook["name"]: webhook for webhook in CONFIGURATION["webhooks"]}
PROBES = WEBHOOKS["probes.probelet.dev"]

# The names of the configurations that each of these installs.
INJECTORS = (
    "istio-revision-tag-default",
    "istio-sidecar-injector",
    "linkerd-proxy-injector-webhook-config",
    "vault-agent-injector-cfg",
    "kuma-admission-mutating-webhook-configuration",
)


@pytest.mark.parametrize("webhook", WEBHOOKS.values(), ids=WEBHOOKS.keys())
def test_a_webhook_that_is_away_changes_nothing(webhook: dict[str, object]) -> None:
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["sideEffects"] == "None"
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    assert webhook["admissionReviewVersions"] == ["v1"]
    timeout = webhook["timeoutSeconds"]
    assert isinstance(timeout, int)
    assert timeout <= 5


def test_only_new_pods_with_the_label_and_outside_of_its_own_namespace_are_sent() -> None:
    assert PROBES["objectSelector"] == {"matchLabels": {"probelet.dev/managed": "true"}}
    (expression,) = PROBES["namespaceSelector"]["matchExpressions"]
    assert expression == {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [NAMESPACE]}
    (rule,) = PROBES["rules"]
    assert (rule["resources"], rule["operations"], rule["scope"]) == (["pods"], ["CREATE"], "Namespaced")


def test_a_namespace_asks_for_the_pods_without_a_label_of_their_own_before_the_probes_are_moved() -> None:
    assert list(WEBHOOKS) == ["namespaces.probelet.dev", "probes.probelet.dev"]
    namespaces = WEBHOOKS["namespaces.probelet.dev"]
    assert namespaces["objectSelector"] == {
        "matchExpressions": [{"key": "probelet.dev/managed", "operator": "DoesNotExist"}]
    }
    assert namespaces["namespaceSelector"] == {
        "matchLabels": {"probelet.dev/managed": "true"},
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [SYSTEM, NAMESPACE]}
        ],
    }
    assert namespaces["rules"] == PROBES["rules"]


def test_it_comes_after_injectors() -> None:
    assert max((*INJECTORS, NAME)) == NAME


def test_the_service_leads_to_the_port_at_which_it_listens() -> None:
    service = ALL.one("Service", PROBES["clientConfig"]["service"]["name"])
    (port,) = service["spec"]["ports"]
    ports = {one["name"]: one["containerPort"] for one in CONTAINER["ports"]}
    assert PROBES["clientConfig"]["service"]["port"] == port["port"]
    assert option(CONTAINER, "listen") == f"0.0.0.0:{ports[port['targetPort']]}"
    assert option(CONTAINER, "listen-health") == f"0.0.0.0:{ports['health']}"
    (policy,) = ALL.kinds("NetworkPolicy")
    (ingress,) = policy["spec"]["ingress"]
    assert {one["port"] for one in ingress["ports"]} == ports.keys()


def test_its_own_certificate_is_the_one_that_it_may_write() -> None:
    secrets, certificate = ALL.one("Role", "probelet-webhook")["rules"]
    assert secrets == {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}
    assert certificate["resourceNames"] == ["probelet-webhook-certificate"]
    assert certificate["verbs"] == ["get", "update"]
    (rule,) = ALL.one("ClusterRole", "probelet-webhook")["rules"]
    assert (rule["resources"], rule["resourceNames"]) == (["mutatingwebhookconfigurations"], [NAME])
    assert rule["verbs"] == ["get", "list", "watch", "patch"]
    assert option(CONTAINER, "configuration") == NAME


def test_the_component_gives_every_pod_a_fallback() -> None:
    [operations] = documents(COMPONENTS / "fallback" / "webhook.yaml")
    _, bound, _ = app.parse_args([one["value"] for one in operations], exit_on_error=False, print_error=False)
    assert read_fallback(bound.arguments["fallback"]) == 10 * MINUTE


def test_a_drain_and_a_rollout_leave_a_replica() -> None:
    assert DEPLOYMENT["spec"]["replicas"] == 2
    assert DEPLOYMENT["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert ALL.one("PodDisruptionBudget", "probelet-webhook")["spec"]["minAvailable"] == 1
    (anti,) = POD["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert anti["podAffinityTerm"]["topologyKey"] == "kubernetes.io/hostname"
    (spread,) = POD["topologySpreadConstraints"]
    assert spread["topologyKey"] == "topology.kubernetes.io/zone"


def test_it_needs_no_root_and_nothing_of_the_node() -> None:
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["runAsUser"] == 65532
    assert not {"hostNetwork", "hostPID", "hostIPC", "volumes"} & POD.keys()


def test_with_cert_manager_it_has_no_rights_and_no_token() -> None:
    overlay = OVERLAYS / "cert-manager"
    removed = {(one["kind"], one["metadata"]["name"]) for one in documents(overlay / "rights")}
    rights = ALL.kinds("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    assert removed == {
        (one["kind"], one["metadata"]["name"]) for one in rights if one["metadata"]["name"] == "probelet-webhook"
    }
    (patch,) = documents(overlay / "webhook.yaml")
    assert pod_of(patch)["automountServiceAccountToken"] is False
    container = container_of(patch)
    (mount,) = container["volumeMounts"]
    assert option(container, "cert-file") == f"{mount['mountPath']}/tls.crt"
    assert option(container, "key-file") == f"{mount['mountPath']}/tls.key"
    _, certificate = documents(overlay / "certificate.yaml")
    assert pod_of(patch)["volumes"][0]["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert f"{PROBES['clientConfig']['service']['name']}.{NAMESPACE}.svc" in certificate["spec"]["dnsNames"]
    (annotated,) = documents(overlay / "configuration.yaml")
    assert annotated["metadata"]["name"] == NAME
    assert annotated["metadata"]["annotations"] == {
        "cert-manager.io/inject-ca-from": f"{NAMESPACE}/{certificate['metadata']['name']}"
    }


def test_prometheus_scrapes_a_port_that_it_has_and_verifies_its_certificate() -> None:
    (monitor,) = documents(MONITORING / "pod-monitor.yaml")
    assert monitor["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["port"] in {one["name"] for one in CONTAINER["ports"]}
    assert endpoint["scheme"] == "https"
    assert "insecureSkipVerify" not in endpoint["tlsConfig"]
    rule = ALL.one("Role", "probelet-webhook")["rules"][1]
    assert [endpoint["tlsConfig"]["ca"]["secret"]["name"]] == rule["resourceNames"]
