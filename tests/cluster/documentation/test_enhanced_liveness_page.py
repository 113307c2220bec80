"""The commands of docs/cluster/enhanced-liveness.md, one block after another, from the installation to the switches."""

import json

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.documentation.page import Page
from tests.cluster.guarded.conftest import SHORT
from tests.cluster.installed import Installed

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

OVERLAY = "deploy/kustomize/overlays/enhanced-liveness"


def test_the_page_leads_from_the_installation_to_the_first_guarded_restart(
    cluster: Cluster, enhanced: Installed
) -> None:
    page = Page(cluster, "cluster/enhanced-liveness.md", OVERLAY, str(enhanced.kustomization))
    install, first, broken, denied, switches = page.blocks()
    assert f"apply -k {OVERLAY}" in install
    page.shown(install)
    # The defaults of the page, and not what a test before has set.
    enhanced.settings(**{**dict.fromkeys(SHORT), "enabled": "true"})  # type: ignore[arg-type]
    try:
        *_, context, _, mapped = page.shown(first)
        assert [entry["name"] for entry in json.loads(context)] == ["app"]
        assert len([name for name in mapped.split() if name.startswith("guarded-")]) == 5
        *_, events, requests, pods = page.shown(broken)
        assert "statuscode: 404" in events
        assert [row.split()[1] for row in requests.splitlines()[1:]] == ["Completed"]
        assert sorted(row.split()[3] for row in pods.splitlines()[1:]) == ["0"] * 4 + ["1"]
        assert "guarded" in page.shown(denied)[-1]
        page.shown(switches)
    finally:
        cluster.kubectl("delete", "deployment/guarded", "pdb/guarded", "-n", "default", "--wait=false")
