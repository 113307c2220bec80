"""``probelet-lint.yaml``: severities and settings of a project."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from probelet.errors import ProbeletError
from probelet.lint.finding import SEVERITIES, Severity
from probelet.lint.registry import rules
from probelet.lint.settings import Settings
from probelet.spec.model.meta import Int32
from probelet.spec.read.decode import DURATION_FORMAT, decode
from probelet.spec.read.load import read_manifest
from probelet.spec.read.tree import TreeError, documents, locate
from probelet.spec.text.duration import SECOND
from probelet.spec.text.problem import Problem, go_value

NAME: Final = "probelet-lint.yaml"
OFF: Final = "off"

Duration = Annotated[int, msgspec.Meta(extra=DURATION_FORMAT)]


class SettingsFileError(ProbeletError):
    """The file is unusable; the text has a line for each mistake."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class Section(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """``settings``: what the user says about the surroundings of the pods."""

    dependency_max: Duration | None = None
    """The longest time in which a dependency answers, as a Go duration above 0."""
    client_timeout: Duration | None = None
    """How long clients wait, as a Go duration above 0."""
    startup_p99: Duration | None = msgspec.field(default=None, name="startupP99")
    """The time in which 99 of 100 containers start, as a Go duration above 0."""
    pods_per_node: Int32 | None = None
    """How many pods like these a node has, above 0."""


class SettingsFile(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The whole file. Every key may be absent."""

    kubelet_version: Literal["1.34", "1.35", "1.36", "1.37", "1.38"] | None = None
    """The release whose fields and gates count. Default 1.36."""
    severities: dict[str, Any] = msgspec.field(default_factory=dict)
    """Rule id -> ``error``, ``warning``, ``info`` or ``off``, for all findings of the rule."""
    settings: Section = Section()
    baseline: str | None = None
    """The file of ``--baseline``, from the directory of this file on."""


@dataclass(frozen=True)
class Project:
    """The content of a settings file."""

    settings: Settings = field(default_factory=Settings)
    baseline: Path | None = None


def read_settings(path: Path) -> Project:
    """Reads a settings file. Raises ``SettingsFileError`` with every mistake, also each unknown key."""
    try:
        found = list(documents(read_manifest(path)))
    except OSError as error:
        raise SettingsFileError([Problem("error", f"cannot be read: {error.strerror}", path)]) from None
    except TreeError as error:
        raise SettingsFileError([Problem("error", str(error), path, error.line)]) from None
    if not found:
        return Project()
    if len(found) > 1 or not isinstance(found[0].root.value, dict):
        raise SettingsFileError([Problem("error", "must be one mapping", path, found[-1].root.line)])
    problems: list[Problem] = []
    file = decode(found[0], SettingsFile, path, problems)
    severities: dict[str, Severity | None] = {}
    for rule, word in file.severities.items():
        problem = _severity(rule, word, severities)
        if problem:
            where = f"severities.{rule}"
            problems.append(Problem("error", problem, path, locate(found[0].root, where), where))
    for name, text in _out_of_range(file.settings):
        where = f"settings.{name}"
        problems.append(Problem("error", text, path, locate(found[0].root, where), where))
    if problems:
        # The reader only warns of unknown fields, because a kubelet accepts them in a manifest.
        raise SettingsFileError([msgspec.structs.replace(problem, severity="error") for problem in problems])
    settings = Settings(
        kubelet_version=file.kubelet_version or Settings().kubelet_version,
        dependency_max=_seconds(file.settings.dependency_max),
        client_timeout=_seconds(file.settings.client_timeout),
        startup_p99=_seconds(file.settings.startup_p99),
        pods_per_node=file.settings.pods_per_node,
        severities=severities,
    )
    return Project(settings, path.parent / file.baseline if file.baseline else None)


def _severity(rule: str, word: Any, severities: dict[str, Severity | None]) -> str:
    """Adds the severity of a rule; returns the mistake, empty if there is none."""
    if rule not in rules():
        return "there is no such rule; 'probelet lint --rules' lists them"
    # YAML 1.1 reads off as false.
    if word is False or word == OFF:
        severities[rule] = None
        return ""
    chosen = next((severity for severity in SEVERITIES if severity == word), None)
    if chosen is None:
        allowed = ", ".join((*SEVERITIES, OFF))
        return f"Unsupported value: {go_value(word)}: supported values: {allowed}"
    severities[rule] = chosen
    return ""


def _out_of_range(section: Section) -> Iterator[tuple[str, str]]:
    for struct_field in msgspec.structs.fields(section):
        value = getattr(section, struct_field.name)
        if value is not None and value <= 0:
            yield struct_field.encode_name, "Invalid value: must be above 0"


def _seconds(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / SECOND
