"""``run --stand-in``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError
from probelet.cli.options import NamedPath

if TYPE_CHECKING:
    from probelet.node.source.stand_ins import StandIns


@Parameter(name="*")
@dataclass(frozen=True)
class StandInFlags:
    """Whether servers play the containers, and how they behave."""

    stand_in: Annotated[
        bool,
        Parameter(
            negative="",
            help="A server plays each container with an image or without a program here: it answers its probes. "
            "--stand-in=FILE: as a scenario file says (docs/simulate.md).",
        ),
    ] = False
    # The command line turns --stand-in=FILE into it, because the library knows no value that may be left out.
    stand_in_file: Annotated[NamedPath | None, Parameter(show=False)] = None

    def read(self, *, on_host: bool) -> "StandIns | None":
        """The stand-ins; None without the flag. Raises CliError on another runtime, and for a mistake in the file."""
        if not self.stand_in and self.stand_in_file is None:
            return None
        if not on_host:
            raise CliError("--stand-in: only for --runtime process; a CRI runtime has the images")
        from probelet.node.source.stand_ins import StandIns

        return StandIns() if self.stand_in_file is None else _as_it_says(self.stand_in_file)


STAND_IN = StandInFlags()


def _as_it_says(path: Path) -> "StandIns":
    import time

    import structlog

    from probelet.lab.scenario.read import ScenarioError, load_scenario
    from probelet.lab.scenario.stand_in import behaviours, not_played
    from probelet.node.source.stand_ins import StandIns

    try:
        file = load_scenario(path)
    except ScenarioError as error:
        raise CliError(*map(str, error.problems)) from error
    if left := not_played(file):
        structlog.get_logger("probelet.run").warning(f"{path}: no stand-in plays {', '.join(left)}")
    return StandIns(behaviours(file, time.monotonic()))
