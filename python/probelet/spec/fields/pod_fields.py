"""The fields of a pod's spec (core/v1 PodSpec, 1.36), and the annotations that a kubelet reads."""

from typing import Final

from probelet.spec.annotation.app_armor import KEY_PREFIX
from probelet.spec.fields.support import Row, both, ignored, nothing, refused, works

PROCESS: Final = "a container is a process of this machine"
NO_VOLUMES: Final = "volumes are not mounted in this version of probelet"
NO_SCHEDULER: Final = nothing("a scheduler reads it")
_NAMES: Final = ignored(f"{PROCESS} and resolves names as it does", "Default")
_USER: Final = ignored(f"{PROCESS} and runs as the user who started probelet", True)
_HOST: Final = ignored(f"{PROCESS} and has its host name", False)
_NO_LIMITS: Final = ignored(f"{PROCESS} without limits of its own")
_RESOLV_CONF: Final = ignored("not passed to the runtime; the runtime gives the node's resolv.conf", "Default")
_SECCOMP: Final = ignored('non-functional in v1.27+; use the "seccompProfile" field instead')
"""The API server's warning (pkg/api/pod/warnings.go, 1.36)."""
_NO_CLAIMS: Final = ignored("there is no API server to read claims from")

POD_ROWS: Final = (
    both("spec.activeDeadlineSeconds"),
    both(
        "spec.affinity",
        ignored("the pod runs on this node, whatever the node's labels; a kubelet compares those of nodeAffinity"),
    ),
    both("spec.automountServiceAccountToken", nothing("there is no API server for the token")),
    both("spec.containers", works("see [containers](#containers)")),
    Row("spec.dnsConfig", _NAMES, _RESOLV_CONF),
    Row("spec.dnsPolicy", _NAMES, _RESOLV_CONF),
    both("spec.enableServiceLinks", nothing("there is no API server to read services from")),
    both("spec.ephemeralContainers", refused("only an API server adds them, to a pod that runs")),
    Row("spec.hostAliases", _NAMES, works("lines of `/etc/hosts`")),
    Row("spec.hostIPC", works(f"always: {PROCESS}"), works("")),
    both("spec.hostNetwork", works("see [the host's network](#the-hosts-network)")),
    Row("spec.hostPID", works(f"always: {PROCESS}"), works("")),
    Row("spec.hostUsers", _USER, refused("`false` is: user namespaces are not available in this version of probelet")),
    Row("spec.hostname", _HOST, works("")),
    Row("spec.hostnameOverride", _HOST, works("")),
    Row("spec.imagePullSecrets", nothing("there are no images"), ignored("images are pulled without credentials")),
    both("spec.initContainers", works("see [containers](#containers)")),
    both("spec.nodeName", nothing("as on a kubelet: the pod is of the node that reads its file, whatever its name")),
    both(
        "spec.nodeSelector",
        ignored("the pod runs on this node, whatever the node's labels", {"kubernetes.io/os": "linux"}),
    ),
    both("spec.os", works("`linux` works; any other system is refused")),
    both("spec.overhead", ignored("pods have no limits of their own in this version of probelet")),
    both("spec.preemptionPolicy", NO_SCHEDULER),
    both("spec.priority", NO_SCHEDULER),
    Row("spec.priorityClassName", NO_SCHEDULER, works("`system-node-critical` sets the OOM score")),
    both("spec.readinessGates", works("see [readiness gates](#readiness-gates)")),
    both("spec.resourceClaims", _NO_CLAIMS),
    both("spec.resources.claims", _NO_CLAIMS),
    Row("spec.resources.limits", _NO_LIMITS, refused("limits of a whole pod are not available in this version")),
    Row("spec.resources.requests", _NO_LIMITS, ignored("pods have no limits of their own in this version of probelet")),
    both("spec.restartPolicy"),
    Row("spec.runtimeClassName", ignored("there is one runtime"), refused("there is no API server to read it from")),
    both("spec.schedulerName", NO_SCHEDULER),
    both("spec.schedulingGates", refused("as by a kubelet: a pod of this node cannot have a gate")),
    both("spec.schedulingGroup", NO_SCHEDULER),
    both("spec.securityContext", works("see [security contexts](#security-contexts)")),
    both("spec.serviceAccount", nothing("the pod gets no token; `fieldRef` of its name works")),
    both("spec.serviceAccountName", nothing("the pod gets no token; `fieldRef` of its name works")),
    Row("spec.setHostnameAsFQDN", _HOST, works("")),
    Row("spec.shareProcessNamespace", works(f"always: {PROCESS}"), works("")),
    Row("spec.subdomain", _HOST, works("a name in `/etc/hosts`; `clusterDomain` of the configuration is its end")),
    both("spec.terminationGracePeriodSeconds"),
    both("spec.tolerations", NO_SCHEDULER),
    both("spec.topologySpreadConstraints", NO_SCHEDULER),
    both("spec.volumes", ignored(NO_VOLUMES)),
    both("spec.workloadRef", NO_SCHEDULER),
    Row(f"metadata.annotations[{KEY_PREFIX}*]", _USER, works("refused if AppArmor is not enabled on this machine")),
    both("metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]", _SECCOMP),
    both("metadata.annotations[container.seccomp.security.alpha.kubernetes.io/*]", _SECCOMP),
    both("metadata", works("name, namespace, UID, labels and annotations")),
)
