"""The request of a command line of ``probelet lint``, with the additions of its settings file."""

from dataclasses import dataclass, replace
from pathlib import Path

from probelet.cli.exit import CliError
from probelet.lint.baseline import BaselineError, Known, read_baseline
from probelet.lint.engine import Report, lint
from probelet.lint.finding import Severity, at_least
from probelet.lint.observed.container import Observation
from probelet.lint.observed.read import ObservedError, read_observed
from probelet.lint.settings import Settings
from probelet.lint.settings_file import NAME, Project, SettingsFileError, read_settings


@dataclass(frozen=True)
class Request:
    """The paths, and how to look at them."""

    paths: tuple[Path, ...]
    settings: Settings
    together: bool
    least: Severity | None
    """``--severity``."""

    @property
    def fails_from(self) -> Severity:
        """The least severity that makes the verb fail."""
        return self.least or "error"

    def report(self) -> Report:
        """Lints, and leaves out what is less severe than asked for."""
        report = lint(self.paths, self.settings, together=self.together)
        report.findings = [found for found in report.findings if at_least(found.severity, self.least or "info")]
        return report


def project_of(config: Path | None) -> Project:
    """The settings file that a flag names, else that of this directory, else none. Raises CliError."""
    path = config or Path(NAME)
    if config is None and not path.exists():
        return Project()
    try:
        return read_settings(path)
    except SettingsFileError as error:
        raise CliError(*map(str, error.problems)) from None


def observations(files: tuple[Path, ...]) -> tuple[Observation, ...]:
    """Returns the observations in the files of ``--observed``. Raises CliError."""
    try:
        return tuple(found for path in files for found in read_observed(path))
    except ObservedError as error:
        raise CliError(f"--observed: {error}") from None


def with_flags(settings: Settings, **flags: str | float | int | tuple[Observation, ...] | None) -> Settings:
    """The settings with what flags say; a flag is stronger than the file. Raises CliError."""
    pods = flags.get("pods_per_node")
    if pods is not None and not (isinstance(pods, int) and pods > 0):
        raise CliError(f"--pods-per-node: {pods} is not above 0")
    return replace(settings, **{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]


def known_findings(flag: Path | None, project: Project) -> list[Known]:
    """The findings of the baseline. Raises CliError."""
    path = flag or project.baseline
    if path is None:
        return []
    try:
        return read_baseline(path)
    except BaselineError as error:
        raise CliError(str(error)) from None
