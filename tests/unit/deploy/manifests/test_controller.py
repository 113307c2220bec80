"""The manifests of enhanced liveness: kinds, roles, and the program's flags."""

import re
from typing import Any

import pytest
import yaml
from cyclopts import App
from probelet.beside.guard.objects import node_probes, recreate_request
from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.settings.read import read_settings
from probelet.cli.cluster.agent import app as agent_app
from probelet.cli.cluster.controller import app
from probelet.cli.cluster.webhook import app as webhook_app
from probelet.daemon.cluster.webhook import handlers
from probelet.kube.connection import Connection

from tests.unit.beside.guard.kubernetes_objects import pod
from tests.unit.beside.guard.mapping.test_merge import after
from tests.unit.beside.guard.restart.test_requests import body
from tests.unit.deploy.manifests.manifest import COMPONENTS, DEPLOY, ENHANCED, MONITORING, container_of, documents

CONTROLLER = ENHANCED / "controller"
CRDS = DEPLOY / "crds"


def read(name: str) -> list[Any]:
    return [one for one in yaml.safe_load_all((CONTROLLER / name).read_text()) if one]


def schema(plural: str) -> Any:
    crd = yaml.safe_load((CRDS / f"{plural}.yaml").read_text())
    [version] = crd["spec"]["versions"]
    return crd, version


def unknown(value: Any, known: Any, path: str = "") -> list[str]:
    """The fields that a schema does not have, and the required ones that a value does not have."""
    if isinstance(value, dict) and "properties" in known:
        missing = [f"{path}.{name} is missing" for name in known.get("required", []) if name not in value]
        for name, member in value.items():
            if name not in known["properties"]:
                missing.append(f"{path}.{name} is unknown")
            else:
                missing += unknown(member, known["properties"][name], f"{path}.{name}")
        return missing
    if isinstance(value, list):
        return [line for each in value for line in unknown(each, known["items"], f"{path}[]")]
    return []


def test_the_kinds_have_the_names_of_openkruise() -> None:
    crd, version = schema("nodepodprobes")
    assert (crd["spec"]["scope"], crd["spec"]["names"]["kind"]) == ("Cluster", node_probes.KIND)
    assert f"{crd['spec']['group']}/{version['name']}" == node_probes.API_VERSION
    crd, version = schema("containerrecreaterequests")
    assert (crd["spec"]["scope"], crd["spec"]["names"]["kind"]) == ("Namespaced", recreate_request.KIND)
    assert crd["spec"]["names"]["shortNames"] == ["crr"]
    assert [each["name"] for each in version["additionalPrinterColumns"]] == ["PHASE", "POD", "NODE", "AGE"]
    assert version["subresources"] == {"status": {}}


def test_the_schemas_have_every_field_that_we_write() -> None:
    context = (
        '[{"name":"c1","livenessProbe":{"httpGet":{"port":80,"httpHeaders":[{"name":"a","value":"b"}]},'
        '"terminationGracePeriodSeconds":5}},{"name":"c2","livenessProbe":{"grpc":{"port":9}}}]'
    )
    _, version = schema("nodepodprobes")
    assert unknown(after(None, pod(context=context)), version["schema"]["openAPIV3Schema"] | {"x": 1}) == []
    _, version = schema("containerrecreaterequests")
    config = {"crr.gracePeriodSeconds": "1", "crr.unreadyGracePeriodSeconds": "2"}
    written = body(config, gates=("KruisePodReady",))
    assert unknown(written, version["schema"]["openAPIV3Schema"]) == []


def test_the_sample_configuration_is_the_default() -> None:
    [config_map] = read("configuration.yaml")
    assert read_settings(config_map["data"]) == (Config(), [])


def test_the_account_may_do_what_the_controller_does_and_no_more() -> None:
    rules = [rule for one in read("cluster-role.yaml") + read("role.yaml") for rule in one.get("rules", [])]
    rights = {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    writes = {right for right in rights if right[2] not in ("get", "list", "watch")}
    assert writes == {
        *(("apps.kruise.io", "nodepodprobes", verb) for verb in ("create", "update", "delete")),
        *(("apps.kruise.io", "containerrecreaterequests", verb) for verb in ("create", "patch", "delete")),
        ("apps.kruise.io", "containerrecreaterequests/status", "patch"),
        ("", "pods/status", "patch"),
        ("policy.kruise.io", "podunavailablebudgets/status", "patch"),
        ("", "events", "create"),
        ("", "events", "patch"),
        ("coordination.k8s.io", "leases", "create"),
        ("coordination.k8s.io", "leases", "update"),
    }
    assert ("", "pods/eviction", "create") not in rights
    assert ("", "secrets", "get") not in rights


def test_every_object_has_its_component() -> None:
    for path in [*CONTROLLER.glob("*.yaml"), *CRDS.glob("*.yaml"), *COMPONENTS.glob("unready-*/rights.yaml")]:
        for one in documents(path):
            if one["kind"] != "Kustomization":
                assert one["metadata"]["labels"]["app.kubernetes.io/component"] == "controller"


def test_the_webhook_is_called_for_pods_that_ask_and_never_blocks_one() -> None:
    """W-7."""
    [[operation, *_]] = documents(ENHANCED / "webhook.yaml")
    webhook = operation["value"]
    assert (webhook["failurePolicy"], webhook["reinvocationPolicy"], webhook["sideEffects"]) == (
        "Ignore",
        "IfNeeded",
        "None",
    )
    assert webhook["timeoutSeconds"] <= 5
    [condition] = webhook["matchConditions"]
    assert re.search(r'using-enhanced-liveness.*== "true"', condition["expression"])
    assert webhook["clientConfig"]["service"]["path"] == "/mutate-enhanced-liveness"


def test_only_new_requests_of_people_depend_on_the_webhook() -> None:
    [[_, *operations]] = documents(ENHANCED / "webhook.yaml")
    webhooks = [each["value"] for each in operations]
    assert [each["failurePolicy"] for each in webhooks] == ["Fail", "Ignore"]
    conditions = [each["matchConditions"][0]["expression"] for each in webhooks]
    assert ['!= "true"' in each for each in conditions] == [True, False]
    for webhook in webhooks:
        assert webhook["clientConfig"]["service"]["path"] in handlers("", Connection.__new__(Connection))
        assert [rule["resources"] for rule in webhook["rules"]] == [["containerrecreaterequests"]]
    assert [each["rules"][0]["operations"] for each in webhooks] == [["CREATE"], ["CREATE", "UPDATE"]]


def test_the_webhook_may_read_pods_nodes_and_requests() -> None:
    rules = [rule for one in read("webhook-role.yaml") for rule in one.get("rules", [])]
    assert [(rule["resources"], rule["verbs"]) for rule in rules] == [
        (["pods", "nodes"], ["get"]),
        (["containerrecreaterequests"], ["list"]),
    ]


def test_the_deployment_uses_flags_that_exist() -> None:
    [deployment] = read("deployment.yaml")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    verb, *flags = container["args"]
    assert verb == "controller"
    _, bound, _ = app.parse_args(flags, exit_on_error=False, print_error=False)
    assert bound.arguments["trust_changes"] is True
    assert deployment["spec"]["replicas"] == 2


@pytest.mark.parametrize(("verb", "program"), [("controller", app), ("webhook", webhook_app), ("agent", agent_app)])
def test_the_flags_beside_openkruise_exist(verb: str, program: App) -> None:
    [operations] = yaml.safe_load_all((COMPONENTS / "coexist-kruise" / f"{verb}.yaml").read_text())
    flags = [operation["value"] for operation in operations]
    assert flags
    program.parse_args(flags, exit_on_error=False, print_error=False)


def test_beside_openkruise_its_kinds_and_the_admission_of_requests_are_its_own() -> None:
    removed = documents(COMPONENTS / "coexist-kruise" / "removed")
    crds = {one["metadata"]["name"] for one in removed if one["kind"] == "CustomResourceDefinition"}
    assert crds == {crd["metadata"]["name"] for path in CRDS.glob("*s.yaml") for crd in documents(path)}
    [[_, *operations]] = documents(ENHANCED / "webhook.yaml")
    [configuration] = [one for one in removed if one["kind"] == "MutatingWebhookConfiguration"]
    assert {one["name"] for one in configuration["webhooks"]} == {each["value"]["name"] for each in operations}


def test_leases_of_agents_are_read_only_with_the_component_for_it() -> None:
    """The right that `agent.unreadyAfter` needs, and the setting, come together."""
    folder = COMPONENTS / "unready-without-agent"
    rights = [rule for one in documents(folder / "rights.yaml") for rule in one.get("rules", [])]
    assert [(rule["resources"], rule["verbs"]) for rule in rights] == [
        (["leases"], ["list", "watch"]),
    ]
    [patch] = documents(folder / "configuration.yaml")
    config, lines = read_settings(patch["data"])
    assert config is not None
    assert (config.unready_after_ns, lines) == (300 * 10**9, [])


def test_prometheus_scrapes_the_port_of_the_pages() -> None:
    [monitor] = documents(MONITORING / "controller-pod-monitor.yaml")
    [deployment] = read("deployment.yaml")
    assert monitor["spec"]["selector"] == deployment["spec"]["selector"]
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["scheme"]) == (container_of(deployment)["ports"][0]["name"], "https")
