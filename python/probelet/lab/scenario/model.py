"""A scenario file (``kind: Scenario``): containers, what they depend on, their traffic, and what goes wrong."""

from typing import Annotated, Final, Literal

import msgspec

from probelet.config.kubelet import Count, Duration, DurationAboveZero, Section
from probelet.lab.scenario.fault import AnyFault
from probelet.lab.scenario.length import Length, Startup
from probelet.spec.text.duration import MILLISECOND, MINUTE, SECOND

API_VERSION: Final = "probelet.dev/v1alpha1"
KIND: Final = "Scenario"

NODES_MAX: Final = 1_000
"""Nodes of a scenario: a simulation of more takes hours."""

Rate = Annotated[float, msgspec.Meta(extra={"range": "not negative"}, extra_json_schema={"minimum": 0})]
Nodes = Annotated[int, msgspec.Meta(ge=1, le=NODES_MAX)]


class Dependency(Section, frozen=True, kw_only=True):
    """A service outside the manifests that containers ask."""

    latency: Length = Length(always=5 * MILLISECOND)
    """How long it takes to answer. Default 5ms."""
    asks: list[str] = msgspec.field(default_factory=list)
    """Other dependencies that it asks, all at once, before it answers."""


class Asks(Section, frozen=True, kw_only=True):
    """Which dependencies are asked before an answer, all at once."""

    requests: list[str] = msgspec.field(default_factory=list)
    """By each request of a client."""
    readiness: list[str] = msgspec.field(default_factory=list)
    """By the readiness probe. A tcpSocket probe asks nothing, because no code of the container answers it."""
    liveness: list[str] | None = None
    """By the liveness probe. Default: what another probe with the same handler asks, otherwise nothing."""
    startup: list[str] | None = None
    """By the startup probe. Default as of `liveness`."""
    paths: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """By an httpGet probe with this path, whatever its type: two versions of manifests may ask different paths. A path
    that is not here asks what its type asks."""


class Container(Section, frozen=True, kw_only=True):
    """How containers behave. Of several entries that match a container, each sets what it names."""

    match: str = "*"
    """Which containers: a pattern (`*`, `?`, `[...]`) of the workload's name, or of `workload/container`."""
    startup: Startup | None = None
    """From the start of the process to its first answer. Default: half of the start-up budget."""
    latency: Length | None = None
    """The time of a request without waiting and without dependencies. Default 20ms."""
    probe_latency: Length | None = None
    """The same for a probe. Default: `latency`."""
    concurrency: Count | None = None
    """How many requests a replica works on at once; further ones wait. Default: no limit."""
    queue: Annotated[int, msgspec.Meta(ge=0, le=10**9)] | None = None
    """How many requests wait in a replica at most; further ones are lost. Default 1000."""
    probes: Literal["queued", "apart"] | None = None
    """`queued` (default): a probe waits behind the requests. `apart`: a server of its own answers probes, as with a
    second port for health; load does not delay it, and only a deadlock or a pause of the whole process stops it."""
    asks: Asks | None = None
    """The dependencies that it asks. Default: nothing."""


class Traffic(Section, frozen=True, kw_only=True):
    """The requests of clients of some Services."""

    service: str = "*"
    """A pattern of the Service's name. A workload that no Service selects has one of its own name here."""
    rate: Rate | None = None
    """Requests per second; or `ratePerReplica`."""
    rate_per_replica: Rate | None = None
    """Requests per second for each replica that the workload wants."""
    timeout: DurationAboveZero = 5 * SECOND
    """The client's timeout: a later answer is lost. Default 5s."""
    slo: DurationAboveZero = SECOND
    """A later answer is late. Default 1s."""


class Scenario(Section, frozen=True, kw_only=True):
    """One scenario. Durations are Go texts such as ``1m30s``."""

    api_version: str = API_VERSION
    kind: str = KIND

    name: str = ""
    """A short name for outputs. Default: the file's name."""
    title: str = ""
    """One line: what goes wrong."""
    text: str = ""
    """The purpose and the assumptions of the scenario, in a few sentences."""
    duration: DurationAboveZero = 15 * MINUTE
    """How long traffic and faults last, from the end of `settle` on. Default 15m."""
    settle: Duration | None = None
    """How long everything may start up before traffic begins; `at` of faults counts from the end of it. Default: until
    every workload is ready."""
    nodes: Nodes = 3
    """How many nodes there are, each with a prober of its own. Default 3."""
    endpoint_delay: Duration = SECOND
    """From a change of a pod's readiness to the end or the beginning of its traffic. Default 1s."""
    dependencies: dict[str, Dependency] = msgspec.field(default_factory=dict)
    """The services outside the manifests, by name."""
    containers: list[Container] = msgspec.field(default_factory=list)
    """How containers behave."""
    traffic: list[Traffic] = msgspec.field(default_factory=list)
    """The requests of clients; the first entry that matches a Service counts."""
    faults: list[AnyFault] = msgspec.field(default_factory=list)
    """The faults, and when they begin."""
