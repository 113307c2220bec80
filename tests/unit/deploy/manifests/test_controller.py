"""The manifests of enhanced liveness: kinds, roles, and the program's flags."""

import re
from typing import Any

import yaml
from probelet.cli.cluster.controller import app
from probelet.guard.objects import node_probes, recreate_request
from probelet.guard.restart.settings.config import Config
from probelet.guard.restart.settings.read import read_settings

from tests.support.paths import ROOT
from tests.unit.guard.kubernetes_objects import pod
from tests.unit.guard.mapping.test_merge import after
from tests.unit.guard.restart.test_requests import body

CONTROLLER = ROOT / "deploy" / "controller"
CRDS = ROOT / "deploy" / "crds"


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
        *(("apps.kruise.io", "containerrecreaterequests", verb) for verb in ("create", "delete")),
        ("policy.kruise.io", "podunavailablebudgets/status", "patch"),
        ("", "events", "create"),
        ("", "events", "patch"),
        ("coordination.k8s.io", "leases", "create"),
        ("coordination.k8s.io", "leases", "update"),
    }
    assert ("", "pods/eviction", "create") not in rights
    assert ("", "secrets", "get") not in rights


def test_every_file_is_listed_and_has_its_labels() -> None:
    for folder in (CONTROLLER, CRDS):
        listed = set(yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"])
        found = {path.name for path in folder.glob("*.yaml")}
        assert listed == found - {"kustomization.yaml", "webhook.patch.yaml"}
    for name in yaml.safe_load((CONTROLLER / "kustomization.yaml").read_text())["resources"]:
        for one in read(name):
            assert one["metadata"]["labels"]["app.kubernetes.io/component"] == "controller"


def test_the_webhook_is_called_for_pods_that_ask_and_never_blocks_one() -> None:
    """W-7."""
    [[operation]] = read("webhook.patch.yaml")
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


def test_the_deployment_uses_flags_that_exist() -> None:
    [deployment] = read("deployment.yaml")
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    verb, *flags = container["args"]
    assert verb == "controller"
    _, bound, _ = app.parse_args(flags, exit_on_error=False, print_error=False)
    assert bound.arguments["trust_changes"] is True
    assert deployment["spec"]["replicas"] == 2
