"""Pods that a CRI runtime does not get, because they would be less confined than they ask to be."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from probelet.spec.read.load import load
from probelet.spec.rules.security.denied_fields import denied_fields
from probelet.spec.rules.security.sysctls import namespace_of, normal_name, safe_sysctls
from probelet.spec.rules.unsupported import DETAIL

from tests.unit.spec.pods import pod_of

C = "spec.containers[0].securityContext"
KEY = "container.apparmor.security.beta.kubernetes.io/app"
NO_APP_ARMOR = "Cannot enforce AppArmor: AppArmor is not enabled on the host (allowed: Unconfined, or no profile)"


def machine(root: Path, *, app_armor: bool = True) -> Path:
    """A /sys whose kernel has AppArmor, or has it switched off."""
    (root / "kernel/security/apparmor").mkdir(parents=True)
    (root / "module/apparmor/parameters").mkdir(parents=True)
    (root / "module/apparmor/parameters/enabled").write_text("Y\n" if app_armor else "N\n")
    return root


def denied(
    sys: Path, *, own: dict[str, Any] | None = None, annotations: dict[str, str] | None = None, **spec: Any
) -> list[str]:
    containers = [{"name": "app", "image": "i", "securityContext": own}]
    pod = pod_of({"containers": containers, **spec}, annotations=annotations or {})
    return [str(error) for error in denied_fields(pod, sys)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"hostUsers": False},
            f"spec.hostUsers: Invalid value: false: user namespaces are {DETAIL}; must be true or absent",
        ),
        (
            {"runtimeClassName": "gvisor"},
            'spec.runtimeClassName: Invalid value: "gvisor": there is no API server to read the class from, and '
            "another runtime may confine less; must be absent",
        ),
        (
            {"resources": {"limits": {"memory": "1Gi"}}},
            f"spec.resources.limits: Forbidden: limits of a whole pod are {DETAIL}; set resources.limits of its "
            "containers",
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel/panic", "value": "1"}]}},
            'spec.securityContext.sysctls[0].name: Forbidden: forbidden sysctl: "kernel.panic" not allowlisted '
            f"(allowed: {', '.join(safe_sysctls())})",
        ),
        (
            {"annotations": {KEY: "localhost/"}},
            f'metadata.annotations[{KEY}]: Invalid value: "localhost/": Cannot enforce AppArmor: the profile\'s '
            "name is empty",
        ),
    ],
)
def test_fields_that_are_refused(tmp_path: Path, spec: dict[str, Any], message: str) -> None:
    assert denied(machine(tmp_path), **spec) == [message]


def test_an_ordinary_and_a_hardened_pod_are_not_refused(tmp_path: Path) -> None:
    sysctls = [{"name": name, "value": "1"} for name in safe_sysctls("6.1.0-13-amd64")]
    own = {
        "seccompProfile": {"type": "RuntimeDefault"},
        "appArmorProfile": {"type": "RuntimeDefault"},
        "seLinuxOptions": {"level": "s0"},
        "runAsNonRoot": True,
    }
    spec = {"hostUsers": True, "os": {"name": "linux"}, "resources": {"requests": {"cpu": "1"}}}
    assert denied(machine(tmp_path), own=own, securityContext={"sysctls": sysctls}, **spec) == []


@pytest.mark.parametrize("has", ["none", "off"])
def test_app_armor_profiles_need_a_kernel_that_enforces_them(tmp_path: Path, has: str) -> None:
    sys = tmp_path if has == "none" else machine(tmp_path, app_armor=False)
    profile = {"appArmorProfile": {"type": "RuntimeDefault"}}
    of_both = denied(sys, own=profile, securityContext=profile, annotations={KEY: "runtime/default"})
    assert of_both == [
        f"spec.securityContext.appArmorProfile: Forbidden: {NO_APP_ARMOR}",
        f"{C}.appArmorProfile: Forbidden: {NO_APP_ARMOR}",
        f"metadata.annotations[{KEY}]: Forbidden: {NO_APP_ARMOR}",
    ]
    assert denied(sys, own={"appArmorProfile": {"type": "Unconfined"}}, annotations={KEY: "unconfined"}) == []


@pytest.mark.parametrize(
    ("release", "count"), [("6.1.0-13-amd64", 12), ("4.15.0", 12), ("4.14.9", 10), ("4.4", 6), ("3.10", 5), ("next", 5)]
)
def test_an_old_kernel_has_fewer_safe_parameters(release: str, count: int) -> None:
    assert len(safe_sysctls(release)) == count


@pytest.mark.parametrize(
    ("name", "normal", "namespace"),
    [
        ("kernel.msgmax", "kernel.msgmax", "ipc"),
        ("kernel/shm_rmid_forced", "kernel.shm_rmid_forced", "ipc"),
        ("fs.mqueue.msg_max", "fs.mqueue.msg_max", "ipc"),
        ("net/ipv4/conf/eno2.100/rp_filter", "net.ipv4.conf.eno2/100.rp_filter", "net"),
        ("net.ipv4.conf.eno2/100.rp_filter", "net.ipv4.conf.eno2/100.rp_filter", "net"),
        ("kernel.panic", "kernel.panic", None),
        ("network", "network", None),
        ("", "", None),
    ],
)
def test_names_and_namespaces(name: str, normal: str, namespace: str | None) -> None:
    assert (normal_name(name), namespace_of(name)) == (normal, namespace)


def test_only_a_cri_runtime_refuses_and_the_process_runtime_names_the_fields(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "annotations": {KEY: "unconfined"}},
        "spec": {
            "hostUsers": False,
            "securityContext": {"sysctls": [{"name": "kernel.panic", "value": "1"}], "runAsNonRoot": True},
            "containers": [
                {
                    "name": "app",
                    "command": ["true"],
                    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}, "readOnlyRootFilesystem": True},
                }
            ],
        },
    }
    path = tmp_path / "web.yaml"
    path.write_text(yaml.safe_dump(pod))
    on_process = load([path], runtime="process")
    assert len(on_process.pods) == 1
    assert on_process.problems == []
    user = "a container is a process of this machine and runs as the user who started probelet"
    assert {found.field: found.reason for found in on_process.pods[0].ignored} == dict.fromkeys(
        (
            f"metadata.annotations[{KEY}]",
            "spec.hostUsers",
            "spec.securityContext.runAsNonRoot",
            "spec.securityContext.sysctls",
            f"{C}.readOnlyRootFilesystem",
            f"{C}.seccompProfile",
        ),
        user,
    )
    on_cri = load([path], runtime="cri")
    assert on_cri.pods == []
    assert {problem.field for problem in on_cri.errors} == {
        "spec.containers[0].image",
        "spec.hostUsers",
        "spec.securityContext.sysctls[0].name",
    }
