"""Security contexts in the configuration that the runtime gets: the kubelet's message for each."""

from typing import Any

import pytest
from probelet.node.effects.linux.config import container_linux, sandbox_linux
from probelet.node.effects.linux.host import MASKED_PATHS, READONLY_PATHS, Host
from probelet.node.effects.linux.run_as import ImageUser
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.model.pod import Pod

from tests.unit.node.effects.linux.pods import pod_of

RUNTIME_DEFAULT = {"type": "RuntimeDefault"}
DEFAULT = api_pb2.SecurityProfile(profile_type=api_pb2.SecurityProfile.RuntimeDefault)
UNCONFINED = api_pb2.SecurityProfile(profile_type=api_pb2.SecurityProfile.Unconfined)


def local(name: str) -> api_pb2.SecurityProfile:
    return api_pb2.SecurityProfile(profile_type=api_pb2.SecurityProfile.Localhost, localhost_ref=name)


PLAIN_HOST, ROOT = Host(), ImageUser(uid=0)


def message(pod: Pod, host: Host = PLAIN_HOST, user: ImageUser = ROOT) -> api_pb2.LinuxContainerSecurityContext:
    return container_linux(pod, pod.spec.containers[0], host, user).security_context


def plain(**fields: Any) -> api_pb2.LinuxContainerSecurityContext:
    """The message for a container without a context, with other values for ``fields``."""
    values: dict[str, Any] = {
        "namespace_options": api_pb2.NamespaceOption(
            network=api_pb2.POD,
            pid=api_pb2.CONTAINER,
            ipc=api_pb2.POD,
            userns_options=api_pb2.UserNamespace(mode=api_pb2.NODE),
        ),
        "masked_paths": MASKED_PATHS,
        "readonly_paths": READONLY_PATHS,
        "seccomp": UNCONFINED,
        "run_as_user": api_pb2.Int64Value(value=0),
    }
    return api_pb2.LinuxContainerSecurityContext(**(values | fields))


def number(value: int) -> api_pb2.Int64Value:
    return api_pb2.Int64Value(value=value)


OF_POD = {
    "runAsUser": 1,
    "runAsGroup": 2,
    "fsGroup": 3,
    "supplementalGroups": [4, 5],
    "supplementalGroupsPolicy": "Strict",
    "seccompProfile": RUNTIME_DEFAULT,
    "seLinuxOptions": {"level": "s0:c1"},
    "appArmorProfile": {"type": "Localhost", "localhostProfile": "of-pod"},
}
INHERITED: dict[str, Any] = {
    "run_as_user": number(1),
    "run_as_group": number(2),
    "supplemental_groups": [3, 4, 5],
    "supplemental_groups_policy": api_pb2.Strict,
    "seccomp": DEFAULT,
    "selinux_options": api_pb2.SELinuxOption(level="s0:c1"),
    "apparmor": local("of-pod"),
    "apparmor_profile": "localhost/of-pod",
}
OWN = {
    "runAsUser": 0,
    "runAsGroup": 9,
    "seccompProfile": {"type": "Unconfined"},
    "seLinuxOptions": {"user": "u", "role": "r", "type": "t", "level": "l"},
    "appArmorProfile": {"type": "Unconfined"},
}
OVERRIDDEN = INHERITED | {
    "run_as_user": number(0),
    "run_as_group": number(9),
    "seccomp": UNCONFINED,
    "selinux_options": api_pb2.SELinuxOption(user="u", role="r", type="t", level="l"),
    "apparmor": UNCONFINED,
    "apparmor_profile": "unconfined",
}


@pytest.mark.parametrize(
    ("own", "of_pod", "expected"),
    [
        ({}, {}, {}),
        # The runtime leaves the paths and the profile away itself.
        ({"privileged": True}, {}, {"privileged": True}),
        ({"procMount": "Default"}, {}, {}),
        ({"procMount": "Unmasked"}, {}, {"masked_paths": (), "readonly_paths": ()}),
        ({"readOnlyRootFilesystem": True}, {}, {"readonly_rootfs": True}),
        ({"allowPrivilegeEscalation": False}, {}, {"no_new_privs": True}),
        ({"allowPrivilegeEscalation": True}, {}, {}),
        ({"runAsNonRoot": True, "runAsUser": 7}, {}, {"run_as_user": number(7)}),
        (
            {"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}},
            {},
            {"capabilities": api_pb2.Capability(add_capabilities=["NET_ADMIN"], drop_capabilities=["ALL"])},
        ),
        ({"seccompProfile": RUNTIME_DEFAULT}, {}, {"seccomp": DEFAULT}),
        (
            {"seccompProfile": {"type": "Localhost", "localhostProfile": "a/b.json"}},
            {},
            {"seccomp": local("/var/lib/kubelet/seccomp/a/b.json")},
        ),
        (
            {"appArmorProfile": RUNTIME_DEFAULT},
            {},
            {"apparmor": DEFAULT, "apparmor_profile": "runtime/default"},
        ),
        ({}, OF_POD, INHERITED),
        (OWN, OF_POD, OVERRIDDEN),
    ],
)
def test_the_message_is_the_kubelets(own: dict[str, Any], of_pod: dict[str, Any], expected: dict[str, Any]) -> None:
    assert message(pod_of({"securityContext": own}, securityContext=of_pod)) == plain(**expected)


@pytest.mark.parametrize(("own", "expected"), [({}, DEFAULT), ({"seccompProfile": {"type": "Unconfined"}}, UNCONFINED)])
def test_the_node_can_confine_every_container_that_names_no_profile(
    own: dict[str, Any], expected: api_pb2.SecurityProfile
) -> None:
    assert message(pod_of({"securityContext": own}), Host(seccomp_default=True)).seccomp == expected


@pytest.mark.parametrize(
    ("value", "of_pod", "expected"),
    [
        ("runtime/default", {}, "runtime/default"),
        ("localhost/mine", {}, "localhost/mine"),
        ("unconfined", {"appArmorProfile": RUNTIME_DEFAULT}, "unconfined"),
        ("", {"appArmorProfile": RUNTIME_DEFAULT}, "runtime/default"),
    ],
)
def test_the_older_annotation_still_names_an_app_armor_profile(
    value: str, of_pod: dict[str, Any], expected: str
) -> None:
    key = "container.apparmor.security.beta.kubernetes.io/app"
    assert message(pod_of(securityContext=of_pod, annotations={key: value})).apparmor_profile == expected
    own = {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "own"}}}
    assert message(pod_of(own, annotations={key: value})).apparmor_profile == "localhost/own"


def test_the_images_user_counts_where_no_context_names_one() -> None:
    named = message(pod_of(), user=ImageUser(name="app"))
    assert (named.run_as_username, named.HasField("run_as_user")) == ("app", False)
    assert message(pod_of(), user=ImageUser(uid=1000)).run_as_user.value == 1000
    asked = message(pod_of(securityContext={"runAsUser": 5}), user=ImageUser(name="app"))
    assert (asked.run_as_username, asked.run_as_user.value) == ("", 5)


@pytest.mark.parametrize(
    ("spec", "pid", "ipc"),
    [
        ({}, api_pb2.CONTAINER, api_pb2.POD),
        ({"shareProcessNamespace": True}, api_pb2.POD, api_pb2.POD),
        ({"hostPID": True}, api_pb2.NODE, api_pb2.POD),
        ({"hostIPC": True}, api_pb2.CONTAINER, api_pb2.NODE),
    ],
)
def test_namespaces(spec: dict[str, Any], pid: int, ipc: int) -> None:
    pod = pod_of(**spec)
    options = message(pod).namespace_options
    assert (options.pid, options.ipc) == (pid, ipc)
    assert sandbox_linux(pod).security_context.namespace_options == options


def test_a_sandbox_has_the_context_of_its_pod_and_always_a_profile() -> None:
    sysctls = [{"name": "net/ipv4/tcp_syncookies", "value": "0"}, {"name": "kernel.shm_rmid_forced", "value": "1"}]
    found = sandbox_linux(pod_of(securityContext={**OF_POD, "sysctls": sysctls}))
    assert dict(found.sysctls) == {"net.ipv4.tcp_syncookies": "0", "kernel.shm_rmid_forced": "1"}
    assert found.security_context == api_pb2.LinuxSandboxSecurityContext(
        namespace_options=plain().namespace_options,
        selinux_options=api_pb2.SELinuxOption(level="s0:c1"),
        seccomp=DEFAULT,
        run_as_user=number(1),
        run_as_group=number(2),
        supplemental_groups=[3, 4, 5],
        supplemental_groups_policy=api_pb2.Strict,
    )
    assert sandbox_linux(pod_of()).security_context.seccomp == DEFAULT


def test_a_sandbox_is_privileged_if_one_of_its_containers_is() -> None:
    privileged = {"securityContext": {"privileged": True}}
    assert sandbox_linux(pod_of(privileged)).security_context.privileged
    assert sandbox_linux(pod_of(initContainers=[{"name": "i", **privileged}])).security_context.privileged
    assert not sandbox_linux(pod_of()).security_context.privileged
