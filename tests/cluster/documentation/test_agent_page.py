"""The commands of docs/cluster/agent.md, one block after another, with the page's own words."""

import json
import re

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.documentation.page import Page
from tests.cluster.installed import Installed
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


def test_the_page_leads_from_the_installation_to_a_kill_and_back(cluster: Cluster, probelet: Installed) -> None:
    page = Page(cluster, "cluster/agent.md", "deploy/kustomize/base", str(probelet.kustomization))
    install, first, killed, labelled, left = page.blocks()
    assert "apply -k deploy/kustomize/base" in install
    page.shown(install)
    *_, pods, annotation = page.shown(first)
    rows = [row.split() for row in pods.splitlines()[1:]]
    assert [(row[1], row[-1]) for row in rows] == [("1/1", "1/1")] * 2, "each ready, and its gate open"
    assert {*json.loads(annotation)["app"]} == {"livenessProbe", "readinessProbe"}
    *_, events, pods = page.shown(killed)
    said = re.search("the event `(?P<text>Container app [^`]*)`", page.text, re.IGNORECASE)
    assert said is not None
    assert said["text"] in events
    assert sorted(row.split()[3] for row in pods.splitlines()[1:]) == ["0", "1"]
    page.shown(labelled)
    path = "/api/v1/namespaces/default/events"
    until(lambda: len(cluster.api.items(path, fieldSelector="reason=ProbesLeft")) == 2, "both pods to be left")
    assert page.shown(left)[-1] == "/healthz"
