"""The table of fields: it is complete, and the reader does with each field what its verdict says."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec import inspect as types
from probelet.spec.annotation.app_armor import KEY_PREFIX
from probelet.spec.fields.ignored import BY_PATH, FAMILIES, ROWS
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.model.meta import ObjectMeta
from probelet.spec.model.pod import PodSpec
from probelet.spec.read.load import read_pods
from probelet.spec.read.objects import Rules

CONTAINER = {"name": "app", "image": "nginx:1", "command": ["sh"]}
SECCOMP = "seccomp.security.alpha.kubernetes.io"
HTTP = {"httpGet": {"port": 80}}
PROFILE = {"type": "RuntimeDefault"}

# A value for each row whose verdict is not "works" on both runtimes, and for some that are. The value of a container's
# field stands in its only container, that of a probe or a hook in its liveness probe or its preStop hook.
VALUES: dict[str, Any] = {
    "spec.affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}},
    "spec.automountServiceAccountToken": False,
    "spec.dnsConfig": {"nameservers": ["10.0.0.10"]},
    "spec.dnsPolicy": "ClusterFirst",
    "spec.enableServiceLinks": True,
    "spec.ephemeralContainers": [{"name": "debug", "image": "i", "command": ["sh"]}],
    "spec.hostAliases": [{"ip": "10.1.2.3", "hostnames": ["db"]}],
    "spec.hostIPC": True,
    "spec.hostNetwork": True,
    "spec.hostPID": True,
    "spec.hostUsers": False,
    "spec.hostname": "box",
    "spec.hostnameOverride": "box.example.org",
    "spec.imagePullSecrets": [{"name": "registry"}],
    "spec.nodeName": "another",
    "spec.nodeSelector": {"disktype": "ssd"},
    "spec.overhead": {"cpu": "100m"},
    "spec.preemptionPolicy": "Never",
    "spec.priority": 7,
    "spec.priorityClassName": "system-node-critical",
    "spec.readinessGates": [{"conditionType": "example.com/gate"}],
    "spec.resourceClaims": [{"name": "gpu"}],
    "spec.resources.claims": [{"name": "gpu"}],
    "spec.resources.limits": {"cpu": "1"},
    "spec.resources.requests": {"cpu": "1"},
    "spec.runtimeClassName": "gvisor",
    "spec.schedulerName": "other",
    "spec.schedulingGates": [{"name": "example.com/quota"}],
    "spec.schedulingGroup": {"podGroupName": "g"},
    "spec.serviceAccount": "robot",
    "spec.serviceAccountName": "robot",
    "spec.setHostnameAsFQDN": True,
    "spec.shareProcessNamespace": True,
    "spec.subdomain": "web",
    "spec.tolerations": [{"operator": "Exists"}],
    "spec.topologySpreadConstraints": [{"maxSkew": 1}],
    "spec.volumes": [{"name": "data", "emptyDir": {}}],
    "spec.workloadRef": {"name": "w"},
    "spec.securityContext.appArmorProfile": {"type": "Unconfined"},
    "spec.securityContext.fsGroup": 7,
    "spec.securityContext.fsGroupChangePolicy": "Always",
    "spec.securityContext.runAsGroup": 7,
    "spec.securityContext.runAsNonRoot": True,
    "spec.securityContext.runAsUser": 7,
    "spec.securityContext.seLinuxChangePolicy": "Recursive",
    "spec.securityContext.seLinuxOptions": {"level": "s0"},
    "spec.securityContext.seccompProfile": PROFILE,
    "spec.securityContext.supplementalGroups": [7],
    "spec.securityContext.supplementalGroupsPolicy": "Strict",
    "spec.securityContext.sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}],
    "spec.securityContext.windowsOptions": {"runAsUserName": "x"},
    "container.command": ["sh"],
    "container.env[].valueFrom.configMapKeyRef": {"name": "m", "key": "k"},
    "container.env[].valueFrom.fieldRef": {"fieldPath": "status.hostIP"},
    "container.env[].valueFrom.fileKeyRef": {"volumeName": "data", "path": "env", "key": "K"},
    "container.env[].valueFrom.resourceFieldRef": {"resource": "limits.cpu"},
    "container.env[].valueFrom.secretKeyRef": {"name": "s", "key": "k"},
    "container.envFrom": [{"configMapRef": {"name": "m"}}],
    "container.image": "nginx:1",
    "container.imagePullPolicy": "Always",
    "container.lifecycle.stopSignal": "SIGUSR1",
    "container.ports[].hostIP": "127.0.0.1",
    "container.ports[].hostPort": 8080,
    "container.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
    "container.resources.claims": [{"name": "gpu"}],
    "container.resources.limits[cpu]": "1",
    "container.resources.limits[hugepages-*]": "4Mi",
    "container.resources.limits[memory]": "1Gi",
    "container.resources.limits[*]": "1",
    "container.resources.requests[cpu]": "1",
    "container.resources.requests[memory]": "1Gi",
    "container.resources.requests[*]": "1",
    "container.securityContext.allowPrivilegeEscalation": False,
    "container.securityContext.appArmorProfile": {"type": "Unconfined"},
    "container.securityContext.capabilities": {"drop": ["ALL"]},
    "container.securityContext.privileged": True,
    "container.securityContext.procMount": "Default",
    "container.securityContext.readOnlyRootFilesystem": True,
    "container.securityContext.runAsGroup": 7,
    "container.securityContext.runAsNonRoot": True,
    "container.securityContext.runAsUser": 7,
    "container.securityContext.seLinuxOptions": {"level": "s0"},
    "container.securityContext.seccompProfile": PROFILE,
    "container.securityContext.windowsOptions": {"runAsUserName": "x"},
    "container.stdin": True,
    "container.stdinOnce": True,
    "container.targetContainerName": "other",
    "container.terminationMessagePath": "/tmp/why",
    "container.terminationMessagePolicy": "FallbackToLogsOnError",
    "container.tty": True,
    "container.volumeDevices": [{"name": "data", "devicePath": "/dev/x"}],
    "container.volumeMounts": [{"name": "data", "mountPath": "/data"}],
    f"metadata.annotations[{KEY_PREFIX}*]": "unconfined",
    f"metadata.annotations[{SECCOMP}/pod]": "unconfined",
    f"metadata.annotations[container.{SECCOMP}/*]": "unconfined",
}


STEP = re.compile(r"([^.\[]+)(?:\[([^\]]*)\])?\.?")
KEYS = {"hugepages-*": "hugepages-2Mi", "*": "example.com/gpu"}


def set_at(owner: dict[str, Any], path: str, value: Any) -> None:
    """Sets the field at a path of the table below ``owner``."""
    step = STEP.match(path)
    assert step is not None
    (name, key), rest = step.groups(), path[step.end() :]
    if key == "":
        owner[name] = items = [{"name": "X"} if name == "env" else {"containerPort": 80}]
        set_at(items[0], rest, value)
    elif key is not None:
        owner.setdefault(name, {})[KEYS.get(key, key.replace("*", "app"))] = value
    elif rest:
        set_at(owner.setdefault(name, {}), rest, value)
    else:
        owner[name] = value


def pod_with(path: str, value: Any) -> dict[str, Any]:
    container = dict(CONTAINER)
    metadata: dict[str, Any] = {"name": "web"}
    spec: dict[str, Any] = {"containers": [container]}
    family, _, rest = path.partition(".")
    owner = {"metadata": metadata, "spec": spec, "container": container}[family]
    set_at(owner, rest, value)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("runtime", get_args(RuntimeKind))
@pytest.mark.parametrize("path", VALUES)
def test_the_reader_does_what_the_table_says(path: str, runtime: RuntimeKind) -> None:
    text = msgspec.json.encode(pod_with(path, VALUES[path])).decode()
    read = read_pods(Path("web.json"), text, Rules(runtime=runtime, missing=lambda _: []))
    verdict = BY_PATH[path].on(runtime)
    if verdict.kind == "refused":
        assert read.errors
        return
    assert read.problems == []
    # The image of the pod is ignored on the embedded runtime whatever else is.
    found = {item.reason for item in read.pods[0].ignored if item.field != "spec.containers[0].image"}
    if path == "container.image":
        found = {item.reason for item in read.pods[0].ignored}
    assert found == ({verdict.why} if verdict.kind == "ignored" else set())


def test_every_row_that_is_not_simply_honoured_has_a_value_to_try() -> None:
    differing = {row.path for row in ROWS if {row.process.kind, row.cri.kind} != {"works"}}
    assert differing - VALUES.keys() == set()


def leaves(path: str, info: types.Type) -> set[str]:
    """The paths of the model that have no row, their own or one of a field around them."""
    path = FAMILIES.get(path, path)
    row = BY_PATH.get(path)
    if row is not None and not (row.process.kind == row.cri.kind == "works"):
        return set()
    match info:
        case types.UnionType():
            return set().union(*(leaves(path, option) for option in info.types))
        case types.ListType():
            item = leaves(f"{path}[]", info.item_type)
            return set() if row is not None and not has_rows_below(path) else item
        case types.StructType() if row is None or has_rows_below(path):
            struct = types.type_info(info.cls)
            assert isinstance(struct, types.StructType)
            return set().union(*(leaves(f"{path}.{field.encode_name}", field.type) for field in struct.fields))
        case types.DictType() if has_rows_below(path):
            return set() if f"{path}[*]" in BY_PATH else {path}
        case types.NoneType():
            return set()
    return set() if row is not None else {path}


@cache
def has_rows_below(path: str) -> bool:
    return any(row.path.startswith((f"{path}.", f"{path}[")) for row in ROWS) or any(
        at.startswith((f"{path}.", f"{path}[")) for at in FAMILIES
    )


def test_every_field_of_the_model_has_a_verdict() -> None:
    assert leaves("spec", types.type_info(PodSpec)) == set()


def test_a_field_without_a_verdict_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("spec.tolerations", "container.tty", "probe.grpc.mode", "container.securityContext.privileged"):
        monkeypatch.delitem(BY_PATH, path)  # type: ignore[arg-type]
        assert leaves("spec", types.type_info(PodSpec)) == {path}
        monkeypatch.undo()


def paths(path: str, info: types.Type) -> Iterator[str]:
    """Each path of the model below ``path``, and ``path`` itself."""
    yield path
    path = FAMILIES.get(path, path)
    match info:
        case types.UnionType():
            yield from (found for option in info.types for found in paths(path, option))
        case types.ListType():
            yield from paths(f"{path}[]", info.item_type)
        case types.StructType():
            struct = types.type_info(info.cls)
            assert isinstance(struct, types.StructType)
            yield from (found for field in struct.fields for found in paths(f"{path}.{field.encode_name}", field.type))


def test_every_row_names_a_field_of_the_model_once() -> None:
    known = {*paths("spec", types.type_info(PodSpec)), *paths("metadata", types.type_info(ObjectMeta))}
    assert [row.path for row in ROWS if re.sub(r"\[.+\]", "", row.path) not in known] == []
    assert len(BY_PATH) == len(ROWS)
