"""The options of a node from the command line and the configuration."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from probelet.base.exposition.wording import EventWording
from probelet.base.logs.kept import KeptLogs
from probelet.base.logs.rotation import LogLimits
from probelet.node.source.mistakes import Mistakes
from probelet.policy.incidents.subjects import CommandReader
from probelet.policy.node.kill_gate import NO_HOLD, HoldOptions
from probelet.policy.protocol.actions import Publish
from probelet.spec.objects.config_object import ObjectStore
from probelet.spec.text.duration import SECOND


class LogUpkeep(msgspec.Struct, frozen=True):
    """The defaults: the runtime rotates the logs, and the logs of a pod go with the pod."""

    limits: LogLimits | None = None
    """The service rotates logs by these limits; None if the runtime rotates them."""
    period_ns: int = 10 * SECOND
    """How often the service looks at their sizes (``containerLogMonitorInterval``)."""
    kept: KeptLogs | None = None
    """Keeps the logs of pods that are gone; None to remove them as a kubelet does."""


class NodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """``log_root`` is the directory of the pods' logs, ``logs`` their upkeep; ``root`` is the directory for files that
    containers get as mounts, None on a runtime without mounts.

    ``cluster_domain`` ends the domain of a pod with a ``subdomain``; ``probe_grace`` says that the gate
    ProbeTerminationGracePeriod is on; HTTP hooks name ``kubelet_version`` in their user agent; ``/configz`` shows
    ``configuration``; ``parallel_pulls`` is how many images may be pulled at once, None for any number;
    ``seccomp_default`` gives the runtime's seccomp profile to containers that name none.
    """

    log_root: Path
    logs: LogUpkeep = msgspec.field(default_factory=LogUpkeep)
    root: Path | None = None
    cluster_domain: str = ""
    probe_grace: bool = True
    kubelet_version: str = "1.36"
    configuration: Mapping[str, Any] = msgspec.field(default_factory=dict)
    parallel_pulls: int | None = 1
    seccomp_default: bool = False
    event_wording: EventWording = "kubelet"
    max_age_ns: int | None = None
    """``maxContainerAge``."""
    incidents: CommandReader | None = None
    """Notices incidents, and reads the commands of exec probes with this; None for a node that does not."""
    hold_kills: HoldOptions = NO_HOLD
    """Which liveness kills wait for the end of an incident; needs ``incidents``."""
    incident_webhook: str | None = None
    """The Alertmanager's URL for alerts; needs ``incidents``."""
    release_on_dependency: bool = False
    objects: ObjectStore = msgspec.field(default_factory=ObjectStore)
    """The ConfigMaps and Secrets of the manifests."""
    mistakes: Callable[[], Mistakes] = Mistakes
    """Returns the mistakes of the newest manifests."""
    on_publish: Callable[[str, Publish], None] | None = None
    """Called with the pod's UID and each status that is set."""
