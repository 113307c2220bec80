"""An agent of the overlay ``direct-exec`` enters the containers of its node, with and without a seccomp profile."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from probelet.runtime.execs.direct.fallback import Reason

from tests.cluster.cluster import Cluster
from tests.cluster.disturbances.pods import managed
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.kubelet.beside.pods.make import Object, command, container, pod
from tests.support.paths import ROOT
from tests.system.containerd.machine import until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

OVERLAY = ROOT / "deploy" / "kustomize" / "overlays" / "direct-exec"
PAGE = "http://127.0.0.1:10291/metrics"
"""The agent is in the host's network (deploy/kustomize/base/agent)."""
READ = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())"

ATTEMPTS = "probelet_exec_direct_attempts_total"
PASSING = {Reason.IDENTITY, Reason.BUSY}
"""Reasons that a container which has just started may give once."""


@pytest.fixture
def direct(probelet: Installed) -> Iterator[None]:
    """An agent with that overlay; afterwards one without."""
    probelet.configure_agent(overlay=OVERLAY)
    yield
    probelet.configure_agent()


def probed(name: str, **security: object) -> Object:
    probe = {**command(name, "0"), "periodSeconds": 1}
    context: dict[str, Any] = {"securityContext": security} if security else {}
    return managed(pod(name, container(readinessProbe=probe, livenessProbe=probe, **context)))


@pytest.mark.usefixtures("direct")
def test_an_agent_in_a_pod_enters_the_containers_of_its_node(cluster: Cluster, namespace: Namespace) -> None:
    def values() -> dict[str, int]:
        page = cluster.runtime.command(sys.executable, "-c", READ, PAGE)
        return {series: int(value) for series, value in re.findall(r"^(probelet_exec_direct\S+) (\d+)$", page, re.M)}

    namespace.create(probed("plain"))
    namespace.create(probed("profiled", seccompProfile={"type": "RuntimeDefault"}))
    hardened = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsUser": 1000}
    namespace.create(probed("hardened", seccompProfile={"type": "RuntimeDefault"}, **hardened))
    for name in ("plain", "profiled", "hardened"):
        namespace.until_ready(name)
    before = values()[ATTEMPTS]
    # Each of the six workers has had its turn in the meantime.
    until(lambda: values()[ATTEMPTS] >= before + 12, "attempts of the helper")
    found = values()
    assert found["probelet_exec_direct_helper_starts_total"] == 1
    fallbacks = {
        str(reason): found[f'probelet_exec_direct_fallbacks_total{{reason="{reason}"}}']
        for reason in Reason
        if reason not in PASSING
    }
    assert not any(fallbacks.values()), fallbacks
