"""Pod sandboxes: addresses, names, filters, and the end of everything in them."""

import socket
import sys

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2

from tests.system.process_runtime.conftest import RunningRuntime

pytestmark = pytest.mark.e2e

LISTEN = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listening", flush=True)
listener.accept()
"""


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("0.0.0.0", 0))
        return str(probe.getsockname()[1])


async def test_two_pods_listen_on_the_same_port(running: RunningRuntime) -> None:
    pods, port = [await running.pod("one"), await running.pod("two")], free_port()
    containers = [await pod.start(sys.executable, "-c", LISTEN, pod.ip, port) for pod in pods]
    for pod, container_id in zip(pods, containers, strict=True):
        await pod.logged("stdout F listening")
        socket.create_connection((pod.ip, int(port))).close()
        assert (await running.exited(container_id)).exit_code == 0
    assert pods[0].ip != pods[1].ip


async def test_a_port_that_another_pod_took_everywhere_is_explained(running: RunningRuntime) -> None:
    first, second, port = await running.pod("one"), await running.pod("two"), free_port()
    await first.start(sys.executable, "-c", LISTEN, "0.0.0.0", port)
    await first.logged("stdout F listening")
    status = await running.exited(await second.start(sys.executable, "-c", LISTEN, "0.0.0.0", port))
    assert status.exit_code == 1
    assert f"so bind $POD_IP ({second.ip}) instead of 0.0.0.0" in status.message


async def test_a_pod_keeps_its_address_when_it_is_made_again(running: RunningRuntime) -> None:
    pod = await running.pod("one")
    await running.client.remove_pod_sandbox(pod.id)
    assert (await running.pod("one")).ip == pod.ip


async def test_a_pod_on_the_nodes_network_has_no_address(running: RunningRuntime) -> None:
    options = api_pb2.NamespaceOption(network=api_pb2.NODE)
    security = api_pb2.LinuxSandboxSecurityContext(namespace_options=options)
    pod = await running.pod(linux=api_pb2.LinuxPodSandboxConfig(security_context=security))
    assert pod.ip == ""


async def test_one_name_is_one_sandbox_and_one_container(running: RunningRuntime) -> None:
    pod = await running.pod()
    with pytest.raises(errors.AlreadyExists, match=f"sandbox default/pod/uid-pod/0 exists as {pod.id}"):
        await running.client.run_pod_sandbox(pod.config)
    container_id = await pod.create("true")
    with pytest.raises(errors.AlreadyExists, match=f"app \\(attempt 0\\) exists as {container_id}"):
        await pod.create("true")


async def test_a_stopped_sandbox_has_killed_its_containers_and_starts_no_more(running: RunningRuntime) -> None:
    pod = await running.pod()
    container_id, late = await pod.start("sleep", "60"), await pod.create("true", name="late")
    await running.client.stop_pod_sandbox(pod.id)
    await running.client.stop_pod_sandbox(pod.id)
    sandbox = (await running.client.pod_sandbox_status(pod.id)).status
    assert (sandbox.state, sandbox.network.ip) == (api_pb2.SANDBOX_NOTREADY, "")
    assert (await running.status(container_id)).exit_code == 137
    with pytest.raises(errors.FailedPrecondition, match="is not running"):
        await running.client.start_container(late)
    with pytest.raises(errors.FailedPrecondition, match="is not running"):
        await pod.create("true", name="later")


async def test_a_removed_sandbox_removes_its_containers(running: RunningRuntime) -> None:
    pod = await running.pod()
    await pod.start("sleep", "60")
    await running.client.remove_pod_sandbox(pod.id)
    assert (await running.client.list_pod_sandbox(), await running.client.list_containers()) == ([], [])
    with pytest.raises(errors.NotFound):
        await running.client.pod_sandbox_status(pod.id)


async def test_lists_are_filtered_by_id_state_pod_and_labels(running: RunningRuntime) -> None:
    one, two = await running.pod("one", labels={"app": "a"}), await running.pod("two", labels={"app": "b", "tier": "x"})
    started = await one.start("sleep", "60", labels={"role": "main"})
    created = await two.create("true", labels={"role": "side"}, annotations={"note": "kept"})
    await running.client.stop_pod_sandbox(two.id)

    async def sandboxes(**fields: object) -> list[str]:
        return [row.id for row in await running.client.list_pod_sandbox(api_pb2.PodSandboxFilter(**fields))]

    async def containers(**fields: object) -> list[str]:
        return [row.id for row in await running.client.list_containers(api_pb2.ContainerFilter(**fields))]

    assert await sandboxes() == [one.id, two.id]
    assert await sandboxes(id=two.id) == [two.id]
    assert await sandboxes(state=api_pb2.PodSandboxStateValue(state=api_pb2.SANDBOX_READY)) == [one.id]
    assert await sandboxes(label_selector={"app": "b", "tier": "x"}) == [two.id]
    assert await containers() == [started, created]
    assert await containers(pod_sandbox_id=one.id) == [started]
    assert await containers(state=api_pb2.ContainerStateValue(state=api_pb2.CONTAINER_CREATED)) == [created]
    assert await containers(label_selector={"role": "side"}) == [created]
    assert (await running.status(created)).annotations == {"note": "kept"}


async def test_the_runtime_reports_its_name_and_version(running: RunningRuntime) -> None:
    version = await running.client.verify()
    assert (version.runtime_name, version.runtime_api_version) == ("probelet-process", "v1")
    conditions = (await running.client.status()).status.conditions
    assert {condition.type: condition.status for condition in conditions} == {
        "RuntimeReady": True,
        "NetworkReady": True,
    }
    with pytest.raises(errors.InvalidArgument, match='no runtime for "gvisor" is configured'):
        await running.client.run_pod_sandbox(api_pb2.PodSandboxConfig(), "gvisor")
