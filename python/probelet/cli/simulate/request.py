"""Plays the request of the flags of ``probelet simulate``."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probelet.cli.app import STDIN
from probelet.cli.exit import CliError
from probelet.cli.simulate.progress import ProgressLine
from probelet.cli.terminal import complain
from probelet.errors import ClusterError, InvalidInputError, ManifestError
from probelet.spec.text.duration import SECOND, format_duration

if TYPE_CHECKING:
    from probelet.lab.picture.document import SimulateDocument


@dataclass(frozen=True)
class Request:
    """Which manifests are to be played, and how."""

    files: tuple[Path, ...]
    against: tuple[Path, ...]
    seed: int
    duration: float | None
    """Seconds; None: the scenario's."""
    release: str
    advise: bool
    guard: bool = False
    settings: Path | None = None
    """The manifest of the controller's ConfigMap; None: its defaults."""

    def command(self, scenario: str) -> str:
        """The command line that plays a scenario again."""
        words = ["probelet", "simulate", *map(_shown, self.files), "--scenario", scenario]
        for path in self.against:
            words += ["--against", _shown(path)]
        if self.guard:
            words.append("--guard")
        if self.settings is not None:
            words += ["--guard-settings", _shown(self.settings)]
        words += ["--seed", str(self.seed)]
        if self.duration is not None:
            words += ["--duration", format_duration(round(self.duration * SECOND))]
        if self.release != "1.36":
            words += ["--kubelet-version", self.release]
        return shlex.join(words)


def _shown(path: Path) -> str:
    return "-" if str(path) == STDIN else str(path)


def played(request: Request, scenario: str) -> "SimulateDocument":
    """The document of one scenario. Raises ``CliError`` with one line per mistake."""
    from probelet.lab.scenario import ScenarioError, load_scenario
    from probelet.lab.simulate import play
    from probelet.lab.simulate.simulation import TRIED_LONG

    changes = TRIED_LONG if request.advise else 0
    progress = ProgressLine((1 + changes) * (2 if request.against or request.guard else 1))
    try:
        file = load_scenario(Path(STDIN) if scenario == "-" else scenario)
        return play(
            list(request.files),
            file,
            against=list(request.against) or None,
            guard=_settings(request.settings) if request.guard else None,
            seed=request.seed,
            duration=request.duration,
            kubelet_version=request.release,
            advise=request.advise,
            command=request.command(scenario),
            watch=progress,
            warn=lambda problem: complain(f"probelet simulate: {problem}"),
        )
    except ScenarioError as error:
        raise CliError(*map(str, error.problems)) from error
    except (ManifestError, ClusterError, InvalidInputError) as error:
        raise CliError(*str(error).splitlines()) from error
    finally:
        progress.end()


def _settings(path: Path | None) -> dict[str, str]:
    """The data of the ConfigMap in a file. Raises ``CliError``, one line for each mistake."""
    from probelet.spec.read.load import read_file

    if path is None:
        return {}
    loaded = read_file(path)
    if loaded.errors:
        raise CliError(*map(str, loaded.errors))
    maps = [found for found in loaded.config_objects if found.kind == "ConfigMap"]
    if len(maps) != 1:
        raise CliError(f"{path}: {len(maps)} ConfigMaps; --guard-settings takes a file with exactly one")
    return {key: value.decode() for key, value in maps[0].data.items()}
