"""Other users of the containerd write what they like into labels, and probelet goes on."""

import signal
from typing import Any

import grpc
import pytest
from probelet.runtime.cri.v1 import api_pb2

from tests.system.containerd.image import APP as IMAGE
from tests.system.containerd.node import ContainerdNode

pytestmark = pytest.mark.e2e

PROBE = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 1, "timeoutSeconds": 30, "failureThreshold": 1}
APP = {
    "name": "app",
    "command": ["sh", "-c", "touch /tmp/alive; trap 'exit 0' TERM; sleep 86400 & wait"],
    "livenessProbe": PROBE,
}


def call(node: ContainerdNode, rpc: str, request: bytes) -> bytes:
    """Calls the containerd with bytes: the protobuf library would refuse to write them."""
    with grpc.insecure_channel(node.containerd.endpoint.replace("unix://", "unix:")) as channel:
        answer: bytes = channel.unary_unary(f"/runtime.v1.RuntimeService/{rpc}")(request, timeout=120)
        return answer


def spoilt(message: Any) -> bytes:
    """The message with bytes that are not UTF-8 at each mark."""
    data: bytes = message.SerializeToString()
    return data.replace(b"QQQQ", b"\xff\xfe\xc0\x80")


class Tenant:
    """Another user's pod, with labels and annotations that are not UTF-8."""

    def __init__(self, node: ContainerdNode) -> None:
        self._node = node
        texts = {"labels": {"motto": "QQQQ"}, "annotations": {"QQQQ": "motto"}}
        identity = api_pb2.PodSandboxMetadata(name="tenant", uid=f"uid-{node.name}", namespace="other")
        config = api_pb2.PodSandboxConfig(metadata=identity, log_directory=str(node.logs), **texts)
        made = call(node, "RunPodSandbox", spoilt(api_pb2.RunPodSandboxRequest(config=config)))
        self.sandbox = api_pb2.RunPodSandboxResponse.FromString(made).pod_sandbox_id
        container = api_pb2.ContainerConfig(
            metadata=api_pb2.ContainerMetadata(name="c"),
            image=api_pb2.ImageSpec(image=IMAGE),
            command=["true"],
            log_path="c.log",
            **{**texts, "labels": {"motto": "QQQQ", "io.kubernetes.pod.uid": f"uid-{node.name}"}},
        )
        request = api_pb2.CreateContainerRequest(
            pod_sandbox_id=self.sandbox, config=container, sandbox_config=api_pb2.PodSandboxConfig(metadata=identity)
        )
        call(node, "CreateContainer", spoilt(request))

    def leave(self) -> None:
        stop = api_pb2.StopPodSandboxRequest(pod_sandbox_id=self.sandbox)
        call(self._node, "StopPodSandbox", stop.SerializeToString())
        remove = api_pb2.RemovePodSandboxRequest(pod_sandbox_id=self.sandbox)
        call(self._node, "RemovePodSandbox", remove.SerializeToString())


@pytest.mark.parametrize("first", ["the tenant", "probelet"])
def test_labels_that_are_not_utf8_stop_no_start_and_no_running_service(node: ContainerdNode, first: str) -> None:
    node.run("web", APP, terminationGracePeriodSeconds=1)
    tenant = Tenant(node) if first == "the tenant" else None
    try:
        node.start()
        tenant = tenant or Tenant(node)
        node.until(lambda: runs(node) >= 3, "probes")
        assert tenant.sandbox in {found.id for found in node.sandboxes_of_all()}
        # probelet asks nothing about a sandbox that does not bear its node's label, so only the lists have such labels.
        calls = {"ListPodSandbox", "ListContainers"}
        node.until(lambda: {line["call"] for line in left_out(node)} == calls, "lines about the tenant's labels")
        assert len(left_out(node)) == len(calls)
        assert node.container("web")["restart_count"] == 0
        # A failure beside the tenant is seen, and the container starts again.
        node.execute("web", "rm", "/tmp/alive")
        node.until(lambda: node.container("web")["restart_count"] == 1, "a restart for a failure")
        assert node.signal(signal.SIGTERM) == 0
    finally:
        if tenant is not None:
            tenant.leave()


def runs(node: ContainerdNode) -> int:
    count: int = node.container("web").get("probes", {}).get("liveness", {}).get("runs", 0)
    return count


def left_out(node: ContainerdNode) -> list[dict[str, Any]]:
    return node.lines_with("parts of the runtime's answer cannot be read")
