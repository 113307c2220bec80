"""The name of a pod inside its containers, with and without a domain: what the kubelet 1.36.3 gives the same pods.

The rows are those of the kubelet's pkg/kubelet/kubelet_pods_test.go (TestGeneratePodHostNameAndDomain) and
pkg/kubelet/util/util_test.go (TestGetNodenameForKernel), and the lengths around their limits.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from probelet.node.effects.mounts.hosts_file import hosts_file
from probelet.node.effects.mounts.pod_name import PodName, PodNameError, kernel_name
from probelet.policy.node.restart_gate import RestartGate

from tests.unit.node.scripted_node import ScriptedNode, make_manifest, served_node
from tests.unit.node.scripted_runtime import ScriptedRuntime

DOMAIN = "cluster.local"
FQDN_64 = {"subdomain": "s" * 37, "setHostnameAsFQDN": True}
"""With the name ``web`` and DOMAIN the whole name has 64 characters."""


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        ("web", {}, ("web", "")),
        ("web", {"hostname": "db"}, ("db", "")),
        ("web", {"subdomain": "site"}, ("web", "site.prod.svc.cluster.local")),
        ("web", {"hostname": "db", "subdomain": "site"}, ("db", "site.prod.svc.cluster.local")),
        ("web", {"hostname": "db", "hostnameOverride": "a.example"}, ("a.example", "")),
        ("web", {"subdomain": "site", "hostnameOverride": "a.example"}, ("a.example", "")),
        ("a" * 63, {"subdomain": "site"}, ("a" * 63, "site.prod.svc.cluster.local")),
        ("a" * 64, {"subdomain": "site"}, ("a" * 63, "site.prod.svc.cluster.local")),
        ("a" * 60 + "-.-" + "b" * 9, {}, ("a" * 60, "")),
        ("a" * 60 + "---", {}, ("a" * 60 + "---", "")),
    ],
)
def test_the_name_and_its_domain(name: str, spec: dict[str, Any], expected: tuple[str, str]) -> None:
    found = PodName.of(make_manifest(name, namespace="prod", **spec).pod, DOMAIN)
    assert (found.host, found.domain) == expected


@pytest.mark.parametrize(
    ("spec", "name", "line"),
    [
        ({}, "web", "10.0.0.7\tweb\n"),
        ({"subdomain": "site"}, "web", "10.0.0.7\tweb.site.prod.svc.cluster.local\tweb\n"),
        (
            {"subdomain": "site", "setHostnameAsFQDN": True},
            "web.site.prod.svc.cluster.local",
            "10.0.0.7\tweb.site.prod.svc.cluster.local\tweb\n",
        ),
        ({"setHostnameAsFQDN": True}, "web", "10.0.0.7\tweb\n"),
        (FQDN_64, f"web.{'s' * 37}.prod.svc.{DOMAIN}", f"10.0.0.7\tweb.{'s' * 37}.prod.svc.{DOMAIN}\tweb\n"),
    ],
)
def test_the_kernel_and_the_hosts_file_have_the_name(spec: dict[str, Any], name: str, line: str) -> None:
    pod = make_manifest("web", namespace="prod", **spec).pod
    assert kernel_name(pod, DOMAIN) == name
    assert hosts_file(pod, "10.0.0.7", DOMAIN).decode().endswith(f"ip6-allrouters\n{line}")


def test_without_a_domain_of_the_cluster_the_domain_ends_in_a_dot() -> None:
    pod = make_manifest("web", subdomain="site", setHostnameAsFQDN=True).pod
    assert kernel_name(pod, "") == "web.site.default.svc."
    assert hosts_file(pod, "10.0.0.7").decode().endswith("10.0.0.7\tweb.site.default.svc.\tweb\n")


def test_a_pod_on_the_hosts_network_has_the_hosts_name() -> None:
    pod = make_manifest("web", namespace="prod", hostNetwork=True, **FQDN_64 | {"subdomain": "s" * 38}).pod
    assert kernel_name(pod, DOMAIN) == ""


def test_a_name_that_the_kernel_cannot_hold_is_refused_in_the_kubelets_words() -> None:
    pod = make_manifest("web", namespace="prod", **FQDN_64 | {"subdomain": "s" * 38}).pod
    with pytest.raises(PodNameError) as caught:
        kernel_name(pod, DOMAIN)
    assert str(caught.value) == (
        "failed to construct FQDN from pod hostname and cluster domain, "
        f"FQDN web.{'s' * 38}.prod.svc.{DOMAIN} is too long (64 characters is the max, 65 characters requested)"
    )
    # Without setHostnameAsFQDN only the hosts file has the domain, and there it may be longer.
    pod = make_manifest("web", namespace="prod", subdomain="s" * 63).pod
    assert kernel_name(pod, DOMAIN) == "web"


@pytest.fixture
async def node(runtime: ScriptedRuntime, gate: RestartGate, tmp_path: Path) -> AsyncIterator[ScriptedNode]:
    async with served_node(runtime, gate, tmp_path, root=tmp_path / "root", cluster_domain=DOMAIN) as node:
        yield node


async def test_the_runtime_gets_both(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(subdomain="site", setHostnameAsFQDN=True)])
    await node.until(lambda: node.container().get("state") == "running")
    assert runtime.called("run_pod_sandbox")[0].config.hostname == "web.site.default.svc.cluster.local"
    created = runtime.called("create_container")[0]
    assert created.sandbox_config.hostname == "web.site.default.svc.cluster.local"
    lines = Path(created.config.mounts[0].host_path).read_text().splitlines()
    assert lines[-1] == "127.0.0.1\tweb.site.default.svc.cluster.local\tweb"


async def test_a_name_that_is_too_long_costs_its_pod_alone(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest("long", subdomain="s" * 63, setHostnameAsFQDN=True), make_manifest("web")])
    await node.until(lambda: node.container().get("state") == "running")
    (message,) = set(node.messages("FailedCreatePodSandBox"))
    assert message.startswith("Failed to create pod sandbox: failed to construct FQDN from pod hostname and cluster")
    assert [request.config.metadata.name for request in runtime.called("run_pod_sandbox")] == ["web"]
