"""A pod on the host's network: its namespace, its address, its files, and where its probes go."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from probelet.node.effects.mounts.hosts_file import HOST_FILE_BYTES_MAX, hosts_file
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.seen import node_address
from probelet.spec.model.pod import Pod

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime

FIELDS = ("status.hostIP", "status.podIP")
ENV = [
    {"name": path.rpartition(".")[2], "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
    for path in FIELDS
]
# The runtime would listen nowhere on this address, so that the test needs no port of this machine.
OWN = node_address.node_address(on_host=False)


async def test_it_has_the_nodes_namespace_and_address(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    container = {"name": "app", "image": "i", "env": ENV, "ports": [{"containerPort": 8080}]}
    node.service.pods.set([make_manifest(hostNetwork=True, hostname="box", containers=[container])])
    await node.until(lambda: node.pod().get("ready"))
    assert node.pod()["ip"] == OWN
    sandbox = runtime.called("run_pod_sandbox")[0].config
    assert sandbox.linux.security_context.namespace_options.network == api_pb2.NODE
    assert sandbox.hostname == "", "the node's own"
    assert [(port.container_port, port.host_port) for port in sandbox.port_mappings] == [(8080, 8080)]
    config = runtime.called("create_container")[0].config
    assert config.linux.security_context.namespace_options.network == api_pb2.NODE
    assert {env.key: env.value.decode() for env in config.envs} == {"hostIP": OWN, "podIP": OWN}
    # It has no address of the runtime, and no new sandbox is made for that reason.
    assert len(runtime.called("run_pod_sandbox")) == 1
    hosts = Path(config.mounts[0].host_path).read_text()
    assert hosts == "# Kubernetes-managed hosts file (host network).\n" + Path("/etc/hosts").read_text()


async def test_another_pod_sees_the_same_host(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    node.service.pods.set([make_manifest(containers=[{"name": "app", "image": "i", "env": ENV}])])
    await node.until(lambda: node.pod().get("ready"))
    config = runtime.called("create_container")[0].config
    assert {env.key: env.value.decode() for env in config.envs} == {"hostIP": OWN, "podIP": "127.0.0.1"}


def pod(**spec: Any) -> Pod:
    return msgspec.convert({"metadata": {"name": "web"}, "spec": {"hostNetwork": True, **spec}}, Pod)


def test_the_aliases_follow_the_nodes_own_lines(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_bytes(b"127.0.0.1 localhost\n\xff\n")
    aliased = pod(hostAliases=[{"ip": "10.1.2.3", "hostnames": ["db"]}])
    assert hosts_file(aliased, "10.0.0.5", host_file=tmp_path / "hosts") == (
        b"# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n\xff\n"
        b"\n# Entries added by HostAliases.\n10.1.2.3\tdb\n"
    )
    with pytest.raises(OSError, match="No such file"):
        hosts_file(aliased, "10.0.0.5", host_file=tmp_path / "none")


def test_a_huge_file_of_the_host_is_cut(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_bytes(b"# ad\n" * HOST_FILE_BYTES_MAX)
    assert len(hosts_file(pod(), "10.0.0.5", host_file=tmp_path / "hosts")) < HOST_FILE_BYTES_MAX + 100


class Machine:
    """Stands in for the sockets of a machine: each family's way out, None without one."""

    def __init__(self, *ways: str | None) -> None:
        self._ways: Iterator[str | None] = iter(ways)

    def __call__(self, *_: object) -> "Machine":
        return self

    def __enter__(self) -> "Machine":
        self._way = next(self._ways)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, _: object) -> None:
        if self._way is None:
            raise OSError("Network is unreachable")

    def getsockname(self) -> tuple[str | None, int]:
        return self._way, 0


@pytest.mark.parametrize(
    ("ways", "address"),
    [(["10.0.0.5"], "10.0.0.5"), ([None, "2001:db8::7"], "2001:db8::7"), ([None, None], "127.0.0.1")],
)
def test_the_nodes_address_is_that_of_its_default_route(
    monkeypatch: pytest.MonkeyPatch, ways: list[str | None], address: str
) -> None:
    monkeypatch.setattr(node_address.socket, "socket", Machine(*ways))
    assert node_address.node_address(on_host=False) == address


def test_on_the_embedded_runtime_the_node_is_on_the_loopback_network() -> None:
    assert node_address.node_address(on_host=True) == "127.0.0.1"
