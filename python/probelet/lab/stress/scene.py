"""The pods of a node and what happens to them: one cell of the matrix."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final, Literal

from probelet.lab.backoff.curve import Curve, seconds_text
from probelet.spec.text.duration import MILLISECOND, SECOND

Policy = Literal["Always", "OnFailure", "Sidecar"]
"""restartPolicy of the pod, or a crashing sidecar beside one container that stays."""

QPS_UNLIMITED: Final = 0


@dataclass(frozen=True)
class Scene:
    """Times are nanoseconds."""

    curve: str = "1/60"
    """The first and the longest delay of back-off, in seconds."""
    pods: int = 110
    """The pods of the node."""
    containers: int = 1
    """1: one container a pod, which crashes. 3: two that crash, and a sidecar that stays."""
    failing: float = 1
    """The share of pods whose containers exit with 1; the others' exit with 0."""
    run_ns: int = 0
    """How long each container runs."""
    kill_ns: int = 0
    """If above 0, containers stay, and their liveness probe fails that many whole seconds after each start."""
    policy: Policy = "Always"
    """restartPolicy of the pods, or a crashing sidecar beside one container that stays."""
    start_cost_ns: int = 0
    """By how much each start takes longer, as plug-ins (CSI, CNI) make it."""
    api_qps: int = QPS_UNLIMITED
    """The limit of status writes in a second; 0 for none."""
    spread_ns: int = 0
    """First starts of the pods are spread evenly over this."""

    @property
    def name(self) -> str:
        """The curve and every field that differs from the base: ``1/60 pods=10 run=10s``."""
        base = Scene(curve=self.curve)
        found = [
            f"{field.name.removesuffix('_ns')}={_text(field.name, getattr(self, field.name))}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(base, field.name)
        ]
        return " ".join([self.curve, *found])

    @property
    def shape(self) -> Curve:
        """The back-off curve."""
        return Curve.parse(self.curve)

    def exit_code(self, pod: int) -> int:
        """The exit code of the containers of this pod. The failing pods come first."""
        return 1 if pod < round(self.pods * self.failing) else 0


CURVES: Final = ("10/300", "1/60", "10/30", "1/1")

AXES: Final[dict[str, tuple[object, ...]]] = {
    "pods": (1, 10, 250, 1000),
    "containers": (3,),
    "failing": (0, 0.1, 0.5),
    "run_ns": tuple(seconds * SECOND for seconds in (10, 299, 301, 599, 601)),
    "kill_ns": tuple(seconds * SECOND for seconds in (5, 30, 310)),
    "policy": ("OnFailure", "Sidecar"),
    "start_cost_ns": (50 * MILLISECOND, 500 * MILLISECOND),
    "api_qps": (5, 50),
}
"""The values of each axis beside the base value."""


def matrix() -> Iterator[Scene]:
    """Every curve with the base, then with each other value of each axis, one at a time."""
    for curve in CURVES:
        base = Scene(curve=curve)
        yield base
        for axis, values in AXES.items():
            for value in values:
                yield replace(base, **{axis: value})  # type: ignore[arg-type]
        # The exit code matters only under a policy that asks for it.
        yield replace(base, policy="OnFailure", failing=0.5)


def _text(name: str, value: object) -> str:
    return seconds_text(value) if name.endswith("_ns") and isinstance(value, int) else str(value)
