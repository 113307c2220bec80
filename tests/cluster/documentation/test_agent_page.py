"""The commands of docs/cluster/agent.md, one block after another, with the page's own words."""

import json
import re

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.documentation.page import Page
from tests.cluster.installed import Installed

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]


def test_the_page_leads_from_the_installation_to_a_kill_and_back(cluster: Cluster, probelet: Installed) -> None:
    page = Page(cluster, "cluster/agent.md", "deploy/kustomize/base", str(probelet.kustomization))
    install, first, killed, left = page.blocks()
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
    assert page.shown(left)[-1] == "/healthz"
