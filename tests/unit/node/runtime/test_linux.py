"""Users, privileges and limits in the configuration that the runtime gets."""

from typing import Any

import msgspec
from probelet.node.runtime.linux import container_linux, sandbox_linux
from probelet.spec.model.pod import Pod


def pod_of(container: dict[str, Any], **spec: Any) -> Pod:
    body = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app", **container}], **spec}}
    return msgspec.convert(body, Pod)


def test_a_containers_security_context_wins_over_its_pods() -> None:
    of_pod = {"runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4]}
    own = {
        "runAsUser": 0,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]},
    }
    pod = pod_of({"securityContext": own}, securityContext=of_pod)
    context = container_linux(pod, pod.spec.containers[0]).security_context
    assert (context.run_as_user.value, context.HasField("run_as_user"), context.run_as_group.value) == (0, True, 2)
    assert list(context.supplemental_groups) == [4, 3]
    assert (context.no_new_privs, context.readonly_rootfs, context.privileged) == (True, True, False)
    assert list(context.capabilities.add_capabilities) == ["NET_ADMIN"]
    assert list(context.capabilities.drop_capabilities) == ["ALL"]
    assert sandbox_linux(pod).security_context.run_as_user.value == 1


def test_a_sandbox_is_privileged_if_one_of_its_containers_is() -> None:
    assert sandbox_linux(pod_of({"securityContext": {"privileged": True}})).security_context.privileged
    assert not sandbox_linux(pod_of({})).security_context.privileged


def test_cpu_and_memory_become_shares_a_quota_and_a_limit() -> None:
    amounts = {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "250m"}}
    pod = pod_of({"resources": amounts})
    answer = container_linux(pod, pod.spec.containers[0]).resources
    assert (answer.cpu_shares, answer.cpu_period, answer.cpu_quota) == (256, 100_000, 50_000)
    assert answer.memory_limit_in_bytes == 64 * 2**20


def test_a_cpu_limit_is_also_the_request_and_without_both_no_resource_is_set() -> None:
    pod = pod_of({"resources": {"limits": {"cpu": 2}}})
    assert container_linux(pod, pod.spec.containers[0]).resources.cpu_shares == 2048
    pod = pod_of({"resources": {"limits": {"cpu": "1m"}}})
    answer = container_linux(pod, pod.spec.containers[0]).resources
    assert (answer.cpu_shares, answer.cpu_quota) == (2, 1000)
    pod = pod_of({})
    assert not container_linux(pod, pod.spec.containers[0]).HasField("resources")
