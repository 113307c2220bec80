"""The JSON documents of ``probelet backoff``. Times are seconds."""

from typing import Literal, NotRequired, TypedDict

from probelet.lab.backoff.claim import Figure, Verdict


class CurveDocument(TypedDict):
    """How the delays of restarts grow."""

    name: str
    """The curve as the command line names it."""
    initial_seconds: float
    """The first delay."""
    max_seconds: float
    """The longest delay."""
    factor: float
    """By what a delay grows."""
    reset_seconds: float
    """A container that ran longer than this starts again with the first delay."""
    jitter: float
    """The share of a delay by which chance lengthens it."""
    first_free: bool
    """True if the first restart waits for nothing."""


class RestartRow(TypedDict):
    """One restart of the container."""

    n: int
    """The number of the restart, from 1."""
    at_seconds: float
    """The time since the container's first start."""
    delay_seconds: float
    """The back-off before this restart."""
    late_seconds: NotRequired[float]
    """Only with ``--scheduler kubelet``: how long after the end of the back-off the kubelet notices it."""


class TableDocument(TypedDict):
    """The restarts of one container."""

    schema: Literal["probelet-backoff/1"]
    curve: CurveDocument
    """The curve."""
    restarts: list[RestartRow]
    """The restarts in their order."""


class CountRow(TypedDict):
    """The restarts in a window since the first start."""

    seconds: int
    """The length of the window, whose end counts."""
    restarts: int
    """The restarts in it."""
    excess: int
    """How many more restarts these are than with the curve of today, 10 s to 300 s."""


class ComparedCurve(CurveDocument):
    """A curve with its restarts."""

    restarts: list[RestartRow]
    """The restarts in their order."""
    counts: list[CountRow]
    """The restarts in windows of several lengths."""


class ComparisonDocument(TypedDict):
    """Several curves side by side."""

    schema: Literal["probelet-backoff-compare/1"]
    curves: list[ComparedCurve]
    """The curves in the order of the command line."""


class Rate(TypedDict):
    """A rate over the window."""

    mean: float
    """The mean."""
    peak: float
    """The rate in the busiest second."""


class TodayDocument(TypedDict):
    """The load with the curve of today."""

    restarts: int
    """The restarts in the window."""
    requests: float
    """The requests to the API server in the window."""


class LoadDocument(TypedDict):
    """The load of a node's crashing containers."""

    schema: Literal["probelet-backoff-load/1"]
    curve: CurveDocument
    """The curve."""
    pods: int
    """The pods of the node (``--pods``)."""
    containers_per_pod: int
    """The containers of each pod (``--containers``)."""
    share_succeeding: float
    """The share of the containers that exit with 0 (``--succeed``)."""
    restart_policy: str
    """restartPolicy of the pods (``--policy``)."""
    scheduler: str
    """Whether starts come exactly, or as the kubelet's sync loop notices them (``--scheduler``)."""
    run_seconds: list[float]
    """The shortest and the longest life of a container (``--run``)."""
    window_seconds: float
    """The window (``--window``)."""
    requests_per_restart: float
    """The requests to the API server that a restart causes (``--requests``)."""
    restarts: int
    """The restarts in the window."""
    excess_restarts: int
    """How many more restarts these are than with the curve of today."""
    requests: float
    """The requests to the API server in the window."""
    excess_requests: float
    """How many more requests these are than with the curve of today."""
    restarts_per_second: Rate
    """The restarts in a second."""
    requests_per_second: Rate
    """The requests in a second."""
    today: TodayDocument
    """The load with the curve of today, 10 s to 300 s."""


class ClaimRow(TypedDict):
    """A claim of KEP-4603."""

    claim: str
    """The number of the claim."""
    says: str
    """The claim in words."""
    published: Figure
    """The figure that the KEP has."""
    found: Figure | None
    """The figure that the model gives; null if the model cannot derive it."""
    assumption: str
    """The assumption under which the claim holds; empty for the literal reading."""
    verdict: Verdict
    """The result of the comparison."""
    detail: str
    """An explanation of the figure."""


class ClaimsDocument(TypedDict):
    """The figures of KEP-4603 beside those of the model."""

    schema: Literal["probelet-kep4603/1"]
    claims: list[ClaimRow]
    """The claims in the order of the KEP."""
