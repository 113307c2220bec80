"""Mistakes in security contexts, in the API server's words (core validation_test.go, 1.36)."""

from typing import Any

import pytest
from probelet.spec.rules.validate import validate

from tests.unit.spec.pods import pod_of

C = "spec.containers[0].securityContext"
P = "spec.securityContext"
TYPES = 'supported values: "Localhost", "RuntimeDefault", "Unconfined"'
SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"


def mistakes(own: dict[str, Any] | None = None, **spec: Any) -> list[str]:
    pod = pod_of({"containers": [{"name": "app", "image": "i", "securityContext": own}], **spec})
    return [str(error) for error in validate(pod)]


@pytest.mark.parametrize(
    ("own", "messages"),
    [
        (
            {"runAsUser": 2**31, "runAsGroup": -1},
            [
                f"{C}.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive",
                f"{C}.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ],
        ),
        ({"procMount": "Bare"}, [f'{C}.procMount: Unsupported value: "Bare": supported values: "Default", "Unmasked"']),
        (
            {"procMount": "Unmasked"},
            [f'{C}.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
        ),
        (
            {"seccompProfile": {}},
            [f"{C}.seccompProfile.type: Required value: type is required when seccompProfile is set"],
        ),
        ({"seccompProfile": {"type": "docker"}}, [f'{C}.seccompProfile.type: Unsupported value: "docker": {TYPES}']),
        (
            {"seccompProfile": {"type": "Localhost"}},
            [f"{C}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost"],
        ),
        (
            {"seccompProfile": {"type": "Localhost", "localhostProfile": ""}},
            [f"{C}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost"],
        ),
        (
            {"seccompProfile": {"type": "Localhost", "localhostProfile": "/../x"}},
            [
                f'{C}.seccompProfile.localhostProfile: Invalid value: "/../x": must be a relative path',
                f"{C}.seccompProfile.localhostProfile: Invalid value: \"/../x\": must not contain '..'",
            ],
        ),
        ({"seccompProfile": {"type": "Localhost", "localhostProfile": "a/b..json"}}, []),
        (
            {"appArmorProfile": {}},
            [f"{C}.appArmorProfile.type: Required value: type is required when appArmorProfile is set"],
        ),
        ({"appArmorProfile": {"type": "all"}}, [f'{C}.appArmorProfile.type: Unsupported value: "all": {TYPES}']),
        (
            {"appArmorProfile": {"type": "Unconfined", "localhostProfile": "x"}},
            [
                f'{C}.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is '
                "Localhost"
            ],
        ),
        (
            {"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}},
            [f"{C}.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost"],
        ),
        (
            {"appArmorProfile": {"type": "Localhost", "localhostProfile": " x" + "y" * 4095}},
            [
                f'{C}.appArmorProfile.localhostProfile: Invalid value: "{" x" + "y" * 4095}": must not be padded with '
                "whitespace",
                f"{C}.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes",
            ],
        ),
    ],
)
def test_mistakes_of_a_container(own: dict[str, Any], messages: list[str]) -> None:
    assert mistakes(own) == messages


def test_a_privileged_container_cannot_give_up_escalation() -> None:
    own = {
        "privileged": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"add": ["CAP_SYS_ADMIN"]},
        "seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "x"},
    }
    # Copied from a kubelet 1.36.3 that was given this container.
    value = (
        '{"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":true,"SELinuxOptions":null,'
        '"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,'
        '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":{"Type":"RuntimeDefault",'
        '"LocalhostProfile":"x"},"AppArmorProfile":null}'
    )
    assert mistakes(own) == [
        f'{C}.seccompProfile.localhostProfile: Invalid value: {{"Type":"RuntimeDefault","LocalhostProfile":"x"}}: '
        "can only be set when seccomp type is Localhost",
        f"{C}: Invalid value: {value}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
        f"{C}: Invalid value: {value}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
        "CAP_SYS_ADMIN",
    ]
    assert mistakes({"privileged": True, "allowPrivilegeEscalation": True}) == []


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        (
            {"securityContext": {"fsGroup": -1, "supplementalGroups": [1, -1]}},
            [
                f"{P}.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive",
                f"{P}.supplementalGroups[1]: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            {"securityContext": {"supplementalGroupsPolicy": "Loose"}},
            [f'{P}.supplementalGroupsPolicy: Unsupported value: "Loose": supported values: "Merge", "Strict"'],
        ),
        (
            {"securityContext": {"fsGroupChangePolicy": "Never", "seLinuxChangePolicy": "Never"}},
            [
                f'{P}.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
                f'{P}.seLinuxChangePolicy: Unsupported value: "Never": supported values: "MountOption", "Recursive"',
            ],
        ),
        (
            {"hostPID": True, "shareProcessNamespace": True},
            [
                f"{P}.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be "
                "enabled"
            ],
        ),
        (
            {"hostUsers": False, "hostPID": True, "hostIPC": True},
            [f"spec.Host{name}: Forbidden: when `hostUsers` is false" for name in ("PID", "IPC")],
        ),
        (
            {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {"hostProcess": True}}},
            [f"{P}.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
        ),
        ({"securityContext": {"windowsOptions": {"hostProcess": True}}}, []),
    ],
)
def test_mistakes_of_a_pod(spec: dict[str, Any], messages: list[str]) -> None:
    assert mistakes(**spec) == messages


def test_an_unmasked_mount_needs_a_user_namespace() -> None:
    assert mistakes({"procMount": "Unmasked"}, hostUsers=False) == []


def test_mistakes_of_sysctls() -> None:
    names = ["", "Kernel.x", "kernel.sem", "kernel.sem", "net/ipv4/a", "x" * 254]
    context = {"sysctls": [{"name": name, "value": "1"} for name in names]}
    pattern = rf"must have at most 253 characters and match regex ^({SEGMENT}[\./])*{SEGMENT}$"
    assert mistakes(securityContext=context, hostIPC=True) == [
        f"{P}.sysctls[0].name: Required value",
        f'{P}.sysctls[1].name: Invalid value: "Kernel.x": {pattern}',
        f"{P}.sysctls[2].name: Invalid value: \"kernel.sem\": may not be specified when 'hostIPC' is true",
        f'{P}.sysctls[3].name: Duplicate value: "kernel.sem"',
        f"{P}.sysctls[3].name: Invalid value: \"kernel.sem\": may not be specified when 'hostIPC' is true",
        f'{P}.sysctls[5].name: Invalid value: "{"x" * 254}": {pattern}',
    ]
    shared = mistakes(securityContext={"sysctls": [{"name": "net/ipv4/a"}]}, hostNetwork=True)
    assert shared == [
        f"{P}.sysctls[0].name: Invalid value: \"net/ipv4/a\": may not be specified when 'hostNetwork' is true"
    ]


def test_mistakes_of_app_armor_annotations() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/"
    own = {"securityContext": {"appArmorProfile": {"type": "Localhost", "localhostProfile": "mine"}}}
    containers = [{"name": "app", "image": "i", **own}, {"name": "side", "image": "i"}]
    annotations = {f"{key}app": "localhost/other", f"{key}side": "default", f"{key}gone": "unconfined"}
    pod = pod_of(
        {"containers": containers, "securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
        annotations=annotations,
    )
    assert [str(error) for error in validate(pod)] == [
        f'metadata.annotations[{key}side]: Invalid value: "default": invalid AppArmor profile name: "default"',
        f'metadata.annotations[{key}gone]: Invalid value: "gone": container not found',
        f"{C}.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match",
        "spec.containers[1].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field "
        "must match",
    ]
