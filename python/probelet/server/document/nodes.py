"""``probelet-nodes/1``."""

from typing import Literal, NotRequired, TypedDict


class NodeProbeDocument(TypedDict):
    """A probe of enhanced liveness, as its node last published it."""

    pod: str
    """``namespace/name``."""
    container: str
    """Its container."""
    state: Literal["Succeeded", "Failed", "Unknown"]
    """``Failed``: as many attempts in a row failed as its ``failureThreshold`` says. ``Unknown``: the node has not
    said."""
    failing: bool
    """Whether its last attempt failed, as far as the node says so."""
    cause: str
    """Why, in one word; empty if it does not fail."""
    since: str | None
    """When its state last changed, by the node's clock."""
    probed: str | None
    """When the node last said so, by the node's clock."""
    message: str
    """The text of the last attempt of a probe whose state is Failed, at most 256 bytes."""


class NodeDocument(TypedDict):
    """A node with probes of enhanced liveness."""

    name: str
    """The name of the node."""
    ready: bool
    """Whether its condition Ready is True."""
    silent: bool
    """Whether it has not written what it should have by now."""
    heard: str
    """When its NodePodProbe last changed, by the controller's clock."""
    probes: int
    """Its probes."""
    failed: int
    """Those in state Failed."""
    failing: int
    """Others whose last attempt failed."""
    unknown: int
    """Those of which the node has not said anything."""
    beats: str
    """The last minutes, one character for ten seconds, the newest last. ``.``: no probe failed, ``~``: the last attempt
    of one had failed, ``!``: the state of one was Failed, ``?``: nothing was known."""
    states: NotRequired[list[NodeProbeDocument]]
    """Its probes one by one, only where the reader asks for one node."""


class NodesDocument(TypedDict):
    """The nodes of a cluster as its controller of enhanced liveness knows them."""

    schema: Literal["probelet-nodes/1"]
    as_of: str
    """The moment of the document."""
    leads: bool
    """Whether this controller decides."""
    notes: list[str]
    """Sentences about what is missing: no leader, objects that are not read yet, pods beyond the limit."""
    nodes: list[NodeDocument]
    """By name."""
