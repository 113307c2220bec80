"""/etc/hosts of a container: its own name and address, and the aliases of its manifest."""

import json
from pathlib import Path

from tests.unit.node.scripted_node import ScriptedNode, make_manifest
from tests.unit.node.scripted_runtime import ScriptedRuntime

HEAD = """\
# Kubernetes-managed hosts file.
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
"""


async def test_a_container_finds_its_own_name_and_the_aliases(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    aliases = [{"ip": "10.1.2.3", "hostnames": ["db", "db.local"]}, {"ip": "::5", "hostnames": ["six"]}]
    node.service.pods.set([make_manifest(hostAliases=aliases)])
    await node.until(lambda: node.container().get("state") == "running")
    mount = runtime.called("create_container")[0].config.mounts[0]
    assert (mount.container_path, mount.readonly) == ("/etc/hosts", False)
    added = "\n# Entries added by HostAliases.\n10.1.2.3\tdb\tdb.local\n::5\tsix\n"
    assert Path(mount.host_path).read_text() == f"{HEAD}127.0.0.1\tweb\n{added}"
    assert Path(mount.host_path).stat().st_mode & 0o777 == 0o644


async def test_a_long_name_is_cut_as_the_kernel_needs_it(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    name = "a" * 62 + ".b"
    node.service.pods.set([make_manifest(name)])
    await node.until(lambda: node.container(name).get("state") == "running")
    assert runtime.called("run_pod_sandbox")[0].config.hostname == "a" * 62
    file = Path(runtime.called("create_container")[0].config.mounts[0].host_path)
    assert file.read_text() == f"{HEAD}127.0.0.1\t{'a' * 62}\n"


async def test_a_hosts_file_that_cannot_be_written_costs_no_container(
    node: ScriptedNode, runtime: ScriptedRuntime, tmp_path: Path
) -> None:
    (tmp_path / "root" / "pods" / "uid-web" / "etc-hosts").mkdir(parents=True)
    node.service.pods.set([make_manifest()])
    await node.until(lambda: node.container().get("state") == "running")
    (mount,) = runtime.called("create_container")[0].config.mounts
    assert mount.container_path == "/dev/termination-log"


async def test_the_annotations_tell_a_tool_the_ports_and_the_hook(node: ScriptedNode, runtime: ScriptedRuntime) -> None:
    container = {
        "name": "app",
        "image": "i",
        "ports": [{"name": "web", "containerPort": 8080}],
        "lifecycle": {"preStop": {"exec": {"command": ["bye"]}}},
    }
    node.service.pods.set([make_manifest(containers=[container])])
    await node.until(lambda: node.container().get("state") == "running")
    annotations = runtime.called("create_container")[0].config.annotations
    ports = json.loads(annotations["io.kubernetes.container.ports"])
    assert ports == [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]
    assert json.loads(annotations["io.kubernetes.container.preStopHandler"]) == {"exec": {"command": ["bye"]}}
