"""The fields of a container (core/v1 Container, 1.36), of its hooks and of its probes."""

from typing import Final

from probelet.spec.fields.pod_fields import NO_VOLUMES, PROCESS
from probelet.spec.fields.support import Row, both, ignored, nothing, works
from probelet.spec.rules.defaults import TERMINATION_MESSAGE_PATH

_NO_LIMITS: Final = ignored(f"{PROCESS} without limits of its own")
_NO_IMAGES: Final = nothing("there are no images")
_ON_UPDATE: Final = nothing("an API server sets resources of a pod that runs")
_STOP_SIGNAL: Final = ignored("the gate ContainerStopSignals is alpha and off, as in a cluster by default")
"""pkg/features/kube_features.go, 1.36."""
_LOG_END: Final = "the message of a failed container is the end of its log"
_OBJECTS: Final = works("see [ConfigMaps and Secrets](#configmaps-and-secrets)")

CONTAINER_ROWS: Final = (
    both("container.args"),
    Row("container.command", works("required: there is no image to take it from"), works("")),
    both("container.env[].name"),
    both("container.env[].value"),
    both("container.env[].valueFrom.configMapKeyRef", _OBJECTS),
    both("container.env[].valueFrom.fieldRef", works("see [the pod's own fields](#the-pods-own-fields)")),
    both("container.env[].valueFrom.fileKeyRef", ignored(f"{NO_VOLUMES}; the variable stays unset")),
    both("container.env[].valueFrom.resourceFieldRef", works("see [the pod's own fields](#the-pods-own-fields)")),
    both("container.env[].valueFrom.secretKeyRef", _OBJECTS),
    both("container.envFrom", _OBJECTS),
    Row("container.image", ignored(f"{PROCESS}, started from command and args"), works("required")),
    Row("container.imagePullPolicy", _NO_IMAGES, works("")),
    both("container.lifecycle.postStart"),
    both("container.lifecycle.preStop"),
    both("container.lifecycle.stopSignal", _STOP_SIGNAL),
    both("container.livenessProbe", works("see [probes](#probes)")),
    both("container.name"),
    both("container.ports[].containerPort", works("probes find the port by its name")),
    Row(
        "container.ports[].hostIP",
        ignored("a container listens on the address that it chooses; `$POD_IP` is the pod's"),
        works("by the CNI network"),
    ),
    Row(
        "container.ports[].hostPort",
        ignored("a container listens on the address that it chooses; with `hostNetwork` that is the host's"),
        works("by the CNI network"),
    ),
    both("container.ports[].name"),
    both("container.ports[].protocol"),
    both("container.readinessProbe", works("see [probes](#probes)")),
    both("container.resizePolicy", _ON_UPDATE),
    both("container.resources.claims", ignored("there is no API server to read claims from")),
    Row("container.resources.limits[cpu]", _NO_LIMITS, works("")),
    Row("container.resources.limits[hugepages-*]", _NO_LIMITS, works("")),
    Row("container.resources.limits[memory]", _NO_LIMITS, works("")),
    Row("container.resources.limits[*]", _NO_LIMITS, ignored("not passed to the runtime in this version of probelet")),
    Row("container.resources.requests[cpu]", _NO_LIMITS, works("")),
    Row("container.resources.requests[memory]", _NO_LIMITS, works("for the OOM score")),
    Row("container.resources.requests[*]", _NO_LIMITS, nothing("a scheduler reads it")),
    both("container.restartPolicy"),
    both("container.restartPolicyRules"),
    both("container.securityContext", works("see [security contexts](#security-contexts)")),
    both("container.startupProbe", works("see [probes](#probes)")),
    Row("container.stdin", ignored("standard input is empty"), works("")),
    Row("container.stdinOnce", ignored("standard input is empty"), works("")),
    both("container.targetContainerName", nothing("only ephemeral containers have it")),
    Row("container.terminationMessagePath", ignored(_LOG_END, TERMINATION_MESSAGE_PATH), works("")),
    Row("container.terminationMessagePolicy", works(f"always `FallbackToLogsOnError`: {_LOG_END}"), works("")),
    Row("container.tty", ignored("output goes to the log, never to a terminal"), works("")),
    both("container.volumeDevices", ignored(NO_VOLUMES)),
    both("container.volumeMounts", ignored(NO_VOLUMES)),
    both("container.workingDir"),
)

HOOK_ROWS: Final = (
    both("hook.exec"),
    both("hook.httpGet"),
    both("hook.sleep"),
    both("hook.tcpSocket", works("as on a kubelet: the hook fails, because it is no hook of its own")),
)

PROBE_ROWS: Final = (
    both("probe.exec.command"),
    both("probe.failureThreshold"),
    both("probe.grpc.mode", works("with the gate `GRPCContainerProbeTLS` (alpha, 1.37); dropped while it is off")),
    both("probe.grpc.port"),
    both("probe.grpc.service"),
    both("probe.httpGet.host"),
    both("probe.httpGet.httpHeaders"),
    both("probe.httpGet.path"),
    both("probe.httpGet.port"),
    both("probe.httpGet.protocol", works("with the gate `H2CContainerProbe` (alpha, 1.37); dropped while it is off")),
    both("probe.httpGet.scheme"),
    both("probe.initialDelaySeconds"),
    both("probe.initializationFailureThreshold", works("a field of probelet's own (KEP-950)")),
    both("probe.periodSeconds"),
    both("probe.successThreshold"),
    both("probe.tcpSocket.host"),
    both("probe.tcpSocket.port"),
    both("probe.terminationGracePeriodSeconds", works("with the gate `ProbeTerminationGracePeriod` (on by default)")),
    both("probe.timeoutSeconds"),
)
