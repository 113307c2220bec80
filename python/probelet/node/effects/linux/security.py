"""How a container and a sandbox are confined: field by field what the kubelet tells the runtime.

Kubelet pkg/kubelet/kuberuntime/security_context.go, kuberuntime_sandbox.go, helpers.go and pkg/securitycontext/util.go,
1.36. A privileged container gets the same message: its runtime sets the paths and the seccomp profile aside.
"""

from collections.abc import Iterator

from probelet.node.effects.linux.host import READONLY_PATHS, SECCOMP_ROOT, Host
from probelet.node.effects.linux.run_as import ImageUser, run_as_user
from probelet.runtime.cri.v1 import api_pb2
from probelet.spec.annotation.app_armor import NAME_PREFIX, RUNTIME_DEFAULT, UNCONFINED, app_armor_profile
from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import PodSecurityContext, SecurityContext, SecurityProfile, SELinuxOptions
from probelet.spec.rules.security.sysctls import normal_name

_TYPES = {
    "RuntimeDefault": api_pb2.SecurityProfile.RuntimeDefault,
    "Unconfined": api_pb2.SecurityProfile.Unconfined,
    "Localhost": api_pb2.SecurityProfile.Localhost,
}


def container_security(
    pod: Pod, container: Container, host: Host, user: ImageUser
) -> api_pb2.LinuxContainerSecurityContext:
    """The container's context over its pod's; ``user`` counts where neither names one."""
    of_pod = pod.spec.security_context or PodSecurityContext()
    own = container.security_context or SecurityContext()
    asked = run_as_user(pod, container)
    masked = own.proc_mount != "Unmasked"
    app_armor = app_armor_profile(pod, container)
    context = api_pb2.LinuxContainerSecurityContext(
        namespace_options=namespaces(pod),
        privileged=own.privileged is True,
        readonly_rootfs=own.read_only_root_filesystem is True,
        no_new_privs=own.allow_privilege_escalation is False,
        masked_paths=host.masked_paths if masked else (),
        readonly_paths=READONLY_PATHS if masked else (),
        selinux_options=_selinux(own.se_linux_options or of_pod.se_linux_options),
        seccomp=_seccomp(own.seccomp_profile or of_pod.seccomp_profile, host),
        apparmor=_profile(app_armor) if app_armor is not None else None,
        # Older runtimes read only this text.
        apparmor_profile=_app_armor_text(app_armor) if app_armor is not None else "",
        run_as_user=_optional(user.uid if asked is None else asked),
        run_as_username=user.name if asked is None else "",
        run_as_group=_optional(of_pod.run_as_group if own.run_as_group is None else own.run_as_group),
        supplemental_groups=_groups(of_pod),
        supplemental_groups_policy=_groups_policy(of_pod),
    )
    if own.capabilities is not None:
        context.capabilities.add_capabilities.extend(own.capabilities.add)
        context.capabilities.drop_capabilities.extend(own.capabilities.drop)
    return context


def sandbox_security(pod: Pod) -> api_pb2.LinuxSandboxSecurityContext:
    """A sandbox with a privileged container has to be privileged itself; its own process always has a profile."""
    of_pod = pod.spec.security_context or PodSecurityContext()
    contexts = (container.security_context for _, container in pod.spec.each_container())
    return api_pb2.LinuxSandboxSecurityContext(
        namespace_options=namespaces(pod),
        privileged=any(context is not None and context.privileged is True for context in contexts),
        selinux_options=_selinux(of_pod.se_linux_options),
        seccomp=api_pb2.SecurityProfile(profile_type=api_pb2.SecurityProfile.RuntimeDefault),
        run_as_user=_optional(of_pod.run_as_user),
        run_as_group=_optional(of_pod.run_as_group),
        supplemental_groups=_groups(of_pod),
        supplemental_groups_policy=_groups_policy(of_pod),
    )


def sysctls(pod: Pod) -> dict[str, str]:
    """The kernel parameters of the pod's namespaces, with dots between the parts of a name."""
    context = pod.spec.security_context or PodSecurityContext()
    return {normal_name(sysctl.name): sysctl.value for sysctl in context.sysctls}


def needs_strict_groups(pod: Pod) -> bool:
    """Whether the pod relies on a feature that a runtime may lack: such a runtime would ignore the field."""
    context = pod.spec.security_context
    return context is not None and context.supplemental_groups_policy == "Strict"


def namespaces(pod: Pod) -> api_pb2.NamespaceOption:
    """The namespaces that a pod's containers share, among them and with the host."""
    # Containers share their processes only if the pod asks for it; the API's zero value would always share them.
    pid = api_pb2.POD if pod.spec.share_process_namespace else api_pb2.CONTAINER
    return api_pb2.NamespaceOption(
        network=api_pb2.NODE if pod.spec.host_network else api_pb2.POD,
        pid=api_pb2.NODE if pod.spec.host_pid else pid,
        ipc=api_pb2.NODE if pod.spec.host_ipc else api_pb2.POD,
        # A pod that asks for a user namespace of its own is refused (``spec.rules.security.denied_fields``).
        userns_options=api_pb2.UserNamespace(mode=api_pb2.NODE),
    )


def _groups(context: PodSecurityContext) -> list[int]:
    return list(_each_group(context))


def _each_group(context: PodSecurityContext) -> Iterator[int]:
    if context.fs_group is not None:
        yield context.fs_group
    yield from context.supplemental_groups


def _groups_policy(context: PodSecurityContext) -> api_pb2.SupplementalGroupsPolicy:
    return api_pb2.Strict if context.supplemental_groups_policy == "Strict" else api_pb2.Merge


def _seccomp(profile: SecurityProfile | None, host: Host) -> api_pb2.SecurityProfile:
    if profile is None:
        return _profile(SecurityProfile(type="RuntimeDefault" if host.seccomp_default else "Unconfined"))
    if profile.type != "Localhost":
        return _profile(profile)
    # Validation has refused an empty name, an absolute path and "..".
    return _profile(SecurityProfile(type="Localhost", localhost_profile=f"{SECCOMP_ROOT}/{profile.localhost_profile}"))


def _profile(profile: SecurityProfile) -> api_pb2.SecurityProfile:
    return api_pb2.SecurityProfile(profile_type=_TYPES[profile.type], localhost_ref=profile.localhost_profile or "")


def _app_armor_text(profile: SecurityProfile) -> str:
    if profile.type == "Localhost":
        return f"{NAME_PREFIX}{profile.localhost_profile}"
    return RUNTIME_DEFAULT if profile.type == "RuntimeDefault" else UNCONFINED


def _selinux(options: SELinuxOptions | None) -> api_pb2.SELinuxOption | None:
    if options is None:
        return None
    return api_pb2.SELinuxOption(user=options.user, role=options.role, type=options.type, level=options.level)


def _optional(value: int | None) -> api_pb2.Int64Value | None:
    return None if value is None else api_pb2.Int64Value(value=value)
