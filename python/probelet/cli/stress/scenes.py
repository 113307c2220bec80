"""The scenes that the flags of ``probelet stress`` ask for."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Final

from probelet.backoff.curve import Curve, CurveError
from probelet.cli.exit import CliError
from probelet.spec.text.duration import SECOND
from probelet.stress.scene import Scene, matrix

PODS_MAX: Final = 10_000
QPS_MAX: Final = 100_000


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """The values of each flag, None for those that were not given."""

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
        """The flags that were given, by the field of a scene."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: values for name, values in found.items() if values}


def matrix_scenes(wishes: Wishes, spread_ns: int) -> list[Scene]:
    """The matrix; it has values of its own for every axis."""
    if wishes.given():
        raise CliError("--matrix has scenes of its own: leave out the flags that make one")
    return [replace(scene, spread_ns=spread_ns) for scene in matrix()]


def scenes(wishes: Wishes, spread_ns: int) -> list[Scene]:
    """Each combination of what was given. Raises CliError with a line for each mistake."""
    mistakes = list(_mistakes(wishes))
    if mistakes:
        raise CliError(*mistakes)
    given = wishes.given()
    return [Scene(spread_ns=spread_ns, **dict(zip(given, values, strict=True))) for values in product(*given.values())]


def _mistakes(wishes: Wishes) -> Iterator[str]:
    for text in wishes.curve or ():
        try:
            Curve.parse(text)
        except CurveError as error:
            yield f"--curve: {error}"
    for flag, values, low, high in (
        ("--pods", wishes.pods, 1, PODS_MAX),
        ("--failing", wishes.failing, 0, 1),
        ("--api-qps", wishes.api_qps, 0, QPS_MAX),
    ):
        for value in values or ():
            if not low <= value <= high:
                yield f"{flag}: {value:g}: must be between {low} and {high:,}"
    for value in wishes.containers or ():
        if value not in (1, 3):
            yield f"--containers: {value}: must be 1 or 3"
    for value in wishes.kill_ns or ():
        if value % SECOND or not value:
            yield "--kill: must be whole seconds, one at least: initialDelaySeconds is"
    if wishes.run_ns and wishes.kill_ns:
        yield "--run and --kill: a container either ends by itself or is killed"
