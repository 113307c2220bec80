"""Creates the scenes of ``probelet stress`` from its flags."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Final

from probelet.cli.exit import CliError
from probelet.lab.backoff.curve import Curve, CurveError
from probelet.lab.stress.scene import Scene, matrix
from probelet.spec.text.duration import SECOND

PODS_MAX: Final = 10_000
QPS_MAX: Final = 100_000


@dataclass(frozen=True, kw_only=True)
class SceneFlags:
    """The values of each flag; None for a flag that is missing from the command line."""

    curve: list[str] | None
    pods: list[int] | None
    containers: list[int] | None
    failing: list[float] | None
    run_ns: list[int] | None
    kill_ns: list[int] | None
    policy: list[str] | None
    start_cost_ns: list[int] | None
    api_qps: list[int] | None

    def given(self) -> dict[str, list[Any]]:
        """The flags on the command line, by the field of a scene."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: values for name, values in found.items() if values}


def matrix_scenes(flags: SceneFlags, spread_ns: int) -> list[Scene]:
    """The scenes of the matrix, which sets every axis itself."""
    if flags.given():
        raise CliError("--matrix has its own scenes: leave out the flags of a scene")
    return [replace(scene, spread_ns=spread_ns) for scene in matrix()]


def scenes(flags: SceneFlags, spread_ns: int) -> list[Scene]:
    """One scene for each combination of the flags. Raises CliError with one line per mistake."""
    mistakes = list(_mistakes(flags))
    if mistakes:
        raise CliError(*mistakes)
    given = flags.given()
    return [Scene(spread_ns=spread_ns, **dict(zip(given, values, strict=True))) for values in product(*given.values())]


def _mistakes(flags: SceneFlags) -> Iterator[str]:
    for text in flags.curve or ():
        try:
            Curve.parse(text)
        except CurveError as error:
            yield f"--curve: {error}"
    for flag, values, low, high in (
        ("--pods", flags.pods, 1, PODS_MAX),
        ("--failing", flags.failing, 0, 1),
        ("--api-qps", flags.api_qps, 0, QPS_MAX),
    ):
        for value in values or ():
            if not low <= value <= high:
                yield f"{flag}: {value:g}: must be between {low} and {high:,}"
    for value in flags.containers or ():
        if value not in (1, 3):
            yield f"--containers: {value}: must be 1 or 3"
    for value in flags.kill_ns or ():
        if value % SECOND or not value:
            yield "--kill: must be whole seconds, at least 1, like initialDelaySeconds"
    if flags.run_ns and flags.kill_ns:
        yield "--run and --kill: use only one of them, since a container ends by itself or by a kill"
