"""The names and addresses of a cluster's nodes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """One node. Number 0 also has the control plane."""

    number: int

    @property
    def name(self) -> str:
        return f"node-{chr(ord('a') + self.number)}"

    @property
    def address(self) -> str:
        return f"10.99.0.{self.number + 1}"

    @property
    def pods(self) -> str:
        """The range of its pods' addresses."""
        return f"10.231.{self.number}.0/24"

    @property
    def token(self) -> str:
        """What its kubelet shows the API server. Nothing leads into the network of the cluster."""
        return f"{self.name}-token"
