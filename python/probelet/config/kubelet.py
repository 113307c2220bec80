"""``KubeletConfiguration`` (kubelet.config.k8s.io/v1beta1): the fields that probelet reads."""

from typing import Annotated, TypeAlias

import msgspec

from probelet.base.logs.rotation import LogLimits
from probelet.spec.model.meta import Int32
from probelet.spec.read.decode import DURATION_FORMAT
from probelet.spec.text.duration import MINUTE, SECOND
from probelet.spec.text.quantity import parse_quantity

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"

# A Go duration without a minus sign, and one with a digit that is not 0, for the schema that editors read.
_NOT_NEGATIVE = r"^\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"
_ABOVE_ZERO = _NOT_NEGATIVE.replace("^", "^(?=.*[1-9])", 1)
# A quantity (apimachinery ``resource.Quantity``), or an empty text.
QUANTITY = r"^([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i)?)?$"


def _duration(allowed: str, pattern: str) -> msgspec.Meta:
    """``allowed`` is the range in words, for the reference page."""
    return msgspec.Meta(
        extra={**DURATION_FORMAT, "range": allowed}, extra_json_schema={"type": "string", "pattern": pattern}
    )


def _text(allowed: str, pattern: str) -> msgspec.Meta:
    return msgspec.Meta(extra={"range": allowed}, extra_json_schema={"pattern": pattern})


# Nanoseconds; a file writes them as a Go duration such as "2m0s".
Duration: TypeAlias = Annotated[int, _duration("not negative", _NOT_NEGATIVE)]
DurationAboveZero: TypeAlias = Annotated[int, _duration("above 0", _ABOVE_ZERO)]

Count: TypeAlias = Annotated[Int32, msgspec.Meta(extra_json_schema={"minimum": 1})]


class Section(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of every configuration type: camelCase in files, snake_case inside."""


class CrashLoopBackOffConfig(Section, frozen=True, kw_only=True):
    """The restart delay of the whole node (KEP-5593)."""

    max_container_restart_period: Annotated[int, _duration("1s to 300s", _ABOVE_ZERO)] | None = None
    """Longest delay before a restart, 1s to 300s. Default: unset, which means 300s. Needs the gate
    ``KubeletCrashLoopBackOffMax``."""


class ProposedCrashLoopBackOff(Section, frozen=True, kw_only=True):
    """KEP-4603's own spelling, which works beside the shipped one."""

    max_seconds: Annotated[Int32, msgspec.Meta(extra_json_schema={"minimum": 1, "maximum": 300})] | None = None
    """Longest delay before a restart in whole seconds, 1 to 300. Default: unset."""


class KubeletConfiguration(Section, frozen=True, kw_only=True):
    """The kubelet's own file. Its other fields are accepted without a warning (``unread_field``)."""

    api_version: str = API_VERSION
    kind: str = KIND
    feature_gates: dict[str, bool] = msgspec.field(default_factory=dict)
    """Gates to switch on or off; ``--feature-gates`` overrides it. Default: each gate's own."""
    cluster_domain: str = ""
    """End of the domain of a pod with a ``spec.subdomain`` on a CRI runtime, ``SUBDOMAIN.NAMESPACE.svc.CLUSTERDOMAIN``,
    in its /etc/hosts. Default: none, and the domain ends in a dot."""
    runtime_request_timeout: Duration = 0
    """Deadline of a CRI call, except calls that wait by design; an exec run gets this plus its own timeout.
    Default 2m, also for an explicit 0 (the kubelet's defaulting); must not be negative."""
    pod_logs_dir: Annotated[str, _text("absolute path", "^(/.*)?$")] = ""
    """A CRI runtime's container logs: an absolute, clean path of ASCII characters. Default /var/log/pods.
    The embedded runtime keeps its logs in the state directory."""
    container_log_max_size: Annotated[str, _text("quantity", QUANTITY)] = ""
    """Size of a container's log at which it is rotated, a quantity; negative: never. Default 10Mi."""
    container_log_max_files: Annotated[Int32, msgspec.Meta(extra_json_schema={"minimum": 2})] | None = None
    """Files that the log of one instance may have, rotated ones included, at least 2. Default 5."""
    container_log_monitor_interval: Annotated[int, _duration("at least 3s, or 0", _NOT_NEGATIVE)] = 0
    """How often probelet looks at the sizes of logs on a CRI runtime, at least 3s. Default 10s, also for an explicit 0.
    The embedded runtime rotates a log before a line makes it too large."""
    serialize_image_pulls: bool | None = None
    """Pull one image at a time. Default true, false when ``maxParallelImagePulls`` is above 1."""
    max_parallel_image_pulls: Count | None = None
    """Concurrent pulls unless ``serializeImagePulls`` is true, at least 1. Default: no limit."""
    seccomp_default: bool | None = None
    """Give the runtime's seccomp profile to every container that names none. Default false."""
    oom_score_adj: Annotated[Int32, msgspec.Meta(extra_json_schema={"minimum": -1000, "maximum": 1000})] | None = None
    """probelet's own score when the kernel looks for a process to kill, -1000 to 1000. Default -999."""
    crash_loop_back_off: CrashLoopBackOffConfig = CrashLoopBackOffConfig()
    """The restart delay of the whole node (KEP-5593)."""
    crashloopbackoff: ProposedCrashLoopBackOff = ProposedCrashLoopBackOff()
    """KEP-4603's own spelling of ``crashLoopBackOff``; a configuration may set only one of the two."""


RUNTIME_REQUEST_TIMEOUT = 2 * MINUTE
POD_LOGS_DIR = "/var/log/pods"
CONTAINER_LOG_MAX_SIZE = "10Mi"
CONTAINER_LOG_MAX_FILES = 5
LOG_MONITOR_PERIOD = 10 * SECOND
OOM_SCORE_ADJ = -999


def set_kubelet_defaults(config: KubeletConfiguration) -> KubeletConfiguration:
    """The kubelet's defaulting (``SetDefaults_KubeletConfiguration``, 1.36) of the fields that probelet reads."""
    timeout = config.runtime_request_timeout or RUNTIME_REQUEST_TIMEOUT
    files = config.container_log_max_files
    serialize = config.serialize_image_pulls
    if serialize is None:
        serialize = (config.max_parallel_image_pulls or 1) < 2
    return msgspec.structs.replace(
        config,
        runtime_request_timeout=timeout,
        pod_logs_dir=config.pod_logs_dir or POD_LOGS_DIR,
        container_log_max_size=config.container_log_max_size or CONTAINER_LOG_MAX_SIZE,
        container_log_max_files=CONTAINER_LOG_MAX_FILES if files is None else files,
        container_log_monitor_interval=config.container_log_monitor_interval or LOG_MONITOR_PERIOD,
        serialize_image_pulls=serialize,
        seccomp_default=config.seccomp_default is True,
        oom_score_adj=OOM_SCORE_ADJ if config.oom_score_adj is None else config.oom_score_adj,
    )


def parallel_pulls(config: KubeletConfiguration) -> int | None:
    """The limit of concurrent image pulls in a defaulted configuration; None means no limit."""
    return 1 if config.serialize_image_pulls else config.max_parallel_image_pulls


def log_limits(config: KubeletConfiguration) -> LogLimits:
    """The limits of a container's log in a defaulted configuration."""
    size = int(parse_quantity(config.container_log_max_size))
    return LogLimits(None if size < 0 else size, config.container_log_max_files or CONTAINER_LOG_MAX_FILES)
