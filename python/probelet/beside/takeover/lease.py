"""The name of a node's Lease: one that is renewed says that the node has an agent."""

from typing import Final

PREFIX: Final = "probelet-agent-"
"""The name of the node follows."""


def lease_name(node: str) -> str:
    """The name of the Lease of a node's agent."""
    return f"{PREFIX}{node}"
