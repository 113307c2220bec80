"""The Kubernetes objects that probelet reads: typed, defaulted, and validated with the API server's messages."""

from probelet.spec.fields.ignored import Ignored, ignored_fields
from probelet.spec.model.container import (
    Container,
    ContainerPort,
    ContainerRestartRule,
    ContainerRestartRuleOnExitCodes,
    Lifecycle,
    LifecycleHandler,
    SleepAction,
)
from probelet.spec.model.env import EnvVar
from probelet.spec.model.int_or_string import IntOrString
from probelet.spec.model.meta import ObjectMeta, OwnerReference
from probelet.spec.model.pod import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodCondition,
    PodIP,
    PodSpec,
    PodStatus,
)
from probelet.spec.model.probe import (
    PROBE_TYPES,
    ExecAction,
    GRPCAction,
    HTTPGetAction,
    HTTPHeader,
    Probe,
    ProbeType,
    TCPSocketAction,
)
from probelet.spec.read.json import SpecError, decode_pod, encode_pod, encode_probe
from probelet.spec.read.load import Loaded, Manifest, load
from probelet.spec.read.static_pod import static_uid
from probelet.spec.rules.defaults import set_defaults
from probelet.spec.rules.disabled import drop_disabled_fields
from probelet.spec.rules.needed import require_command
from probelet.spec.rules.validate import validate
from probelet.spec.text.problem import FieldError, Problem

__all__ = [
    "PROBE_TYPES",
    "Container",
    "ContainerPort",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "EnvVar",
    "ExecAction",
    "FieldError",
    "GRPCAction",
    "HTTPGetAction",
    "HTTPHeader",
    "Ignored",
    "IntOrString",
    "Lifecycle",
    "LifecycleHandler",
    "Loaded",
    "Manifest",
    "ObjectMeta",
    "OwnerReference",
    "Pod",
    "PodCondition",
    "PodIP",
    "PodSpec",
    "PodStatus",
    "Probe",
    "ProbeType",
    "Problem",
    "SleepAction",
    "SpecError",
    "TCPSocketAction",
    "decode_pod",
    "drop_disabled_fields",
    "encode_pod",
    "encode_probe",
    "ignored_fields",
    "load",
    "require_command",
    "set_defaults",
    "static_uid",
    "validate",
]
