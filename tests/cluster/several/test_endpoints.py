"""The endpoints of pods on several nodes follow the gates, each that of its own pod."""

import pytest

from tests.cluster.endpoints import ready_endpoints
from tests.cluster.fifteen.pods import service
from tests.cluster.installed import Installed
from tests.cluster.namespace import Namespace
from tests.cluster.several.workloads import managed, on
from tests.kubelet.beside.pods.make import container, pod

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

SHOP, GATE = "shop", "probelet.dev/ready"
OFF = "/tmp/off"
"""While the file is there, a container is not ready."""
PROBE = {"exec": {"command": ["sh", "-c", f"test ! -e {OFF}"]}, "periodSeconds": 1, "failureThreshold": 1}


def test_a_pod_that_turns_unready_leaves_the_endpoints_on_whatever_node_it_is(
    probelet: Installed, namespace: Namespace
) -> None:
    cluster = namespace.cluster
    namespace.create(service(SHOP), "services")
    pods = {}
    for node in cluster.nodes:
        thing = managed(on(node.name, pod(f"{SHOP}-{node.name}", container(readinessProbe=PROBE))))
        thing["metadata"]["labels"]["app"] = SHOP
        pods[node.name] = namespace.create(thing)["metadata"]["name"]
    every = set(pods.values())
    namespace.until(lambda: ready_endpoints(namespace, SHOP) == every, "each endpoint")
    for name in every:
        assert not namespace.pod(name)["spec"]["containers"][0].get("readinessProbe")
    for name in every:
        _in_pod(namespace, name, "touch", OFF)
        namespace.until(lambda: ready_endpoints(namespace, SHOP) == every - {name}, f"{name} to leave")  # noqa: B023
        (gate,) = [one for one in namespace.pod(name)["status"]["conditions"] if one["type"] == GATE]
        assert gate["status"] == "False"
        _in_pod(namespace, name, "rm", OFF)
        namespace.until(lambda: ready_endpoints(namespace, SHOP) == every, f"{name} to be back")
    assert all(namespace.pod(name)["status"]["containerStatuses"][0]["restartCount"] == 0 for name in every)


def _in_pod(namespace: Namespace, pod_name: str, *words: str) -> None:
    namespace.cluster.kubectl("exec", pod_name, "-n", namespace.name, "--", *words)
