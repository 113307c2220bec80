"""Enhanced liveness on top of the base, as its page installs it: once the commands have ended no pod slips through."""

import json

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.documentation.page import Page
from tests.cluster.documentation.test_enhanced_liveness_page import OVERLAY
from tests.cluster.guarded.stage import CONTEXT, steady
from tests.cluster.installed import CONFIGURATION, Installed
from tests.cluster.namespace import Namespace

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(420)]

TIMES = 10
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


def test_the_pages_installation_and_a_pod_at_once_ten_times(
    cluster: Cluster, enhanced: Installed, namespace: Namespace
) -> None:
    page = Page(cluster, "cluster/enhanced-liveness.md", OVERLAY, str(enhanced.kustomization))
    install = page.blocks()[0]
    native = []
    for number in range(TIMES):
        as_the_base_has_it(cluster)
        page.shown(install)
        name = f"at-once-{number}"
        made = namespace.create(steady(name))
        if "livenessProbe" in made["spec"]["containers"][0] or CONTEXT not in made["metadata"]["annotations"]:
            native.append(name)
    assert native == []


def as_the_base_has_it(cluster: Cluster) -> None:
    """The configuration without the entries of the component; those of the base keep their caBundles."""
    path = f"{CONFIGURATIONS}/{CONFIGURATION}"
    count = len(cluster.api.get(path)["webhooks"])
    operations = [{"op": "remove", "path": f"/webhooks/{index}"} for index in reversed(range(1, count))]
    cluster.kubectl(
        "patch", f"mutatingwebhookconfiguration/{CONFIGURATION}", "--type=json", "-p", json.dumps(operations)
    )


def test_a_pod_that_was_missed_gets_an_event(cluster: Cluster, enhanced: Installed, namespace: Namespace) -> None:
    as_the_base_has_it(cluster)
    try:
        made = namespace.create(steady("missed"))
        assert "livenessProbe" in made["spec"]["containers"][0]
    finally:
        enhanced.apply()
    namespace.until(lambda: said(namespace, "missed"), "the event")
    assert "asks for enhanced liveness (annotation" in said(namespace, "missed")


def said(namespace: Namespace, name: str) -> str:
    found = [event["message"] for event in namespace.events(name) if event["reason"] == "ProbesNotTakenOver"]
    return found[0] if found else ""
