"""The fields that a runtime cannot honour; each gets one warning.

With the process runtime a container is a process of this machine without an image, a cgroup or mounts of its own: it
isolates nothing, so its warnings name each field of a security context. With a CRI runtime the missing fields are gaps
of probelet; ``security.admission`` refuses a field whose absence would leave a container less confined.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from probelet.spec.annotation.app_armor import KEY_PREFIX
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext
from probelet.spec.rules.defaults import TERMINATION_MESSAGE_PATH
from probelet.spec.rules.downward import readable_field
from probelet.spec.rules.runtime_kind import RuntimeKind
from probelet.spec.text.problem import Problem

_PROCESS = "a container is a process of this machine"

# Field name -> why it has no effect. The table leaves out fields that have no effect on a kubelet either (scheduling,
# service accounts of static pods) and imagePullPolicy, which image covers: those warnings would be noise.
_PROCESS_CONTAINER: Mapping[str, str] = {
    "image": f"{_PROCESS}, started from command and args",
    "resources": f"{_PROCESS} without limits of its own",
    "security_context": f"{_PROCESS} and runs as the user who started probelet",
    "volume_mounts": f"{_PROCESS} and sees its files",
    "volume_devices": f"{_PROCESS} and sees its files",
    "env_from": "there is no API server to read it from; use env",
    "stdin": "standard input is empty",
    "tty": "output goes to the log, never to a terminal",
    "termination_message_path": "the message of a failed container is the end of its log",
}
_PROCESS_POD: Mapping[str, str] = {
    "dns_config": f"{_PROCESS} and resolves names as it does",
    "dns_policy": f"{_PROCESS} and resolves names as it does",
    "host_aliases": f"{_PROCESS} and resolves names as it does",
    "host_users": f"{_PROCESS} and runs as the user who started probelet",
    "hostname": f"{_PROCESS} and has its host name",
    "resources": f"{_PROCESS} without limits of its own",
    "runtime_class_name": "there is one runtime",
    "security_context": f"{_PROCESS} and runs as the user who started probelet",
    "share_process_namespace": "all processes share one namespace",
    "volumes": f"{_PROCESS} and sees its files",
}

# pkg/features/kube_features.go, 1.36.
_ALPHA_STOP_SIGNAL = "the gate ContainerStopSignals is alpha and off, as in a cluster by default"
_NOT_READ = "there is no API server to read it from"
_NOT_YET = "not passed to the runtime in this version of probelet"
_CRI_CONTAINER: Mapping[str, str] = {
    "env_from": f"{_NOT_READ}; use env",
    "volume_mounts": "volumes are not mounted in this version of probelet",
    "volume_devices": "volumes are not mounted in this version of probelet",
}
_CRI_POD: Mapping[str, str] = {
    "dns_config": f"{_NOT_YET}; the runtime gives the node's resolv.conf",
    "dns_policy": f"{_NOT_YET}; the runtime gives the node's resolv.conf",
    "image_pull_secrets": f"{_NOT_READ}; images are pulled without credentials",
    "resources": _NOT_YET,
    "volumes": "volumes are not mounted in this version of probelet",
}
_OF_POD: Mapping[RuntimeKind, Mapping[str, str]] = {"process": _PROCESS_POD, "cri": _CRI_POD}
_OF_CONTAINER: Mapping[RuntimeKind, Mapping[str, str]] = {"process": _PROCESS_CONTAINER, "cri": _CRI_CONTAINER}

_CRI_SECURITY: Mapping[str, str] = {
    "fs_group_change_policy": "volumes are not mounted in this version of probelet",
    "se_linux_change_policy": "volumes are not mounted in this version of probelet",
    "windows_options": "this node runs linux",
}

_SECCOMP_ANNOTATIONS = ("seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/")
# The API server's warning (pkg/api/pod/warnings.go, 1.36).
_NO_FUNCTION = 'non-functional in v1.27+; use the "seccompProfile" field instead'

# Values that only spell out the default behaviour.
_SAME_AS_ABSENT: Mapping[str, tuple[Any, ...]] = {
    "dns_policy": ("Default",),
    "host_users": (True,),
    "termination_message_path": (TERMINATION_MESSAGE_PATH,),
}


def ignored_fields(pod: Pod, runtime: RuntimeKind) -> list[Problem]:
    """One warning for each field that is set and has no effect on this kind of runtime."""
    problems = [
        Problem("warning", f"ignored: {reason}", field=field)
        for owner, prefix, table in _owners(pod, runtime)
        for field, reason in _set_fields(owner, prefix, table)
    ]
    problems += _annotations(pod, runtime)
    if runtime == "cri":
        problems += _amounts(pod)
    for prefix, container in pod.spec.each_container():
        if container.lifecycle is not None and container.lifecycle.stop_signal is not None:
            problems.append(
                Problem("warning", f"ignored: {_ALPHA_STOP_SIGNAL}", field=f"{prefix}.lifecycle.stopSignal")
            )
        for index, entry in enumerate(container.env):
            if entry.value_from is not None and readable_field(entry.value_from) is None:
                message = f"ignored: {_NOT_READ}; the variable is left unset"
                problems.append(Problem("warning", message, field=f"{prefix}.env[{index}].valueFrom"))
    return problems


def _owners(pod: Pod, runtime: RuntimeKind) -> Iterator[tuple[msgspec.Struct, str, Mapping[str, str]]]:
    security = _CRI_SECURITY if runtime == "cri" else {}
    yield pod.spec, "spec", _OF_POD[runtime]
    if pod.spec.security_context is not None:
        yield pod.spec.security_context, "spec.securityContext", security
    for prefix, container in pod.spec.each_container():
        yield container, prefix, _OF_CONTAINER[runtime]
        if container.security_context is not None:
            yield container.security_context, f"{prefix}.securityContext", security


def _set_fields(owner: msgspec.Struct, prefix: str, table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for field in msgspec.structs.fields(owner):
        if field.name not in table:
            continue
        value = getattr(owner, field.name)
        absent = (None, "", {}, [], *_SAME_AS_ABSENT.get(field.name, ()))
        if value in absent or (isinstance(value, msgspec.Struct) and value == type(value)()):
            continue
        reason = table[field.name]
        if isinstance(value, SecurityContext | PodSecurityContext):
            reason += f" ({', '.join(_names_of_set(value))})"
        yield f"{prefix}.{field.encode_name}", reason


def _names_of_set(context: SecurityContext | PodSecurityContext) -> list[str]:
    return [
        field.encode_name
        for field in msgspec.structs.fields(context)
        if getattr(context, field.name) not in (None, [], {})
    ]


def _annotations(pod: Pod, runtime: RuntimeKind) -> Iterator[Problem]:
    """Profiles asked for by annotation: the kubelet still reads those of AppArmor, no longer those of seccomp."""
    for key in pod.metadata.annotations:
        if key.startswith(_SECCOMP_ANNOTATIONS):
            yield Problem("warning", f"ignored: {_NO_FUNCTION}", field=f"metadata.annotations[{key}]")
        elif key.startswith(KEY_PREFIX) and runtime == "process":
            reason = _PROCESS_CONTAINER["security_context"]
            yield Problem("warning", f"ignored: {reason}", field=f"metadata.annotations[{key}]")


def _amounts(pod: Pod) -> Iterator[Problem]:
    """Limits of resources that no runtime limits: the kubelet's own managers do it."""
    for prefix, container in pod.spec.each_container():
        for name in container.resources.limits if container.resources is not None else ():
            if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
                yield Problem("warning", f"ignored: {_NOT_YET}", field=f"{prefix}.resources.limits[{name}]")
