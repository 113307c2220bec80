"""Reads a scenario, from a file or a built-in, with the line of each mistake."""

import difflib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec

from probelet.errors import ProbeletError
from probelet.lab.scenario.model import API_VERSION, KIND, Scenario
from probelet.lab.scenario.rules import validate
from probelet.spec.read.decode import decode
from probelet.spec.read.load import read_manifest
from probelet.spec.read.tree import Document, Node, TreeError, documents, locate
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError, Problem, shorten

_FOLDER = resources.files("probelet.lab.scenario") / "builtin"


class ScenarioError(ProbeletError, ValueError):
    """A scenario is unusable. ``problems`` holds every mistake; the exception's text has one line for each."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True)
class ScenarioFile:
    """A valid scenario, and where its fields are."""

    scenario: Scenario
    path: Path | None
    """The file as the user named it; None for a built-in or a text."""
    root: Node

    def problem(self, error: FieldError) -> Problem:
        """The line about a mistake that shows only with manifests, such as a name that they do not have."""
        return Problem("error", error.shortened().body, self.path, locate(self.root, error.path), error.path)


def builtin_names() -> list[str]:
    """The names of the built-in scenarios, sorted."""
    return sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml"))


def builtin_text(name: str) -> str:
    """The file of a built-in scenario. Raises ``ScenarioError`` if there is no such scenario."""
    known = builtin_names()
    if name not in known:
        raise ScenarioError([Problem("error", f"there is no scenario {go_quote(name)}; {_meant(name, known)}")])
    return (_FOLDER / f"{name}.yaml").read_text()


def _meant(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"built in are {', '.join(known)}"


def load_scenario(scenario: str | Path) -> ScenarioFile:
    """The built-in of this name, or else the file at this path (a ``Path`` is always a file; ``STDIN`` works).

    Raises ``ScenarioError`` with every mistake at once.
    """
    if isinstance(scenario, str):
        known = builtin_names()
        if scenario in known:
            return read_scenario(builtin_text(scenario), None, scenario)
        path = Path(scenario)
        if not path.suffix and not path.exists():
            message = f"there is no scenario or file {go_quote(scenario)}; {_meant(scenario, known)}"
            raise ScenarioError([Problem("error", message)])
    else:
        path = scenario
    try:
        text = read_manifest(path)
    except OSError as error:
        raise ScenarioError([Problem("error", f"cannot be read: {error.strerror}", path)]) from None
    except TreeError as error:
        raise ScenarioError([Problem("error", str(error), path, error.line)]) from None
    return read_scenario(text, path, path.stem)


def read_scenario(text: str, path: Path | None = None, name: str = "scenario") -> ScenarioFile:
    """The scenario of a text. ``path`` names its file in messages; ``name`` is the scenario's if it has none.

    Raises ``ScenarioError`` with every mistake at once.
    """
    problems: list[Problem] = []
    try:
        found = list(documents(text))
    except TreeError as error:
        raise ScenarioError([Problem("error", str(error), path, error.line)]) from None
    if len(found) != 1:
        line = found[1].root.line if found else 1
        message = f"must be one document of kind {KIND}, not {len(found)}"
        raise ScenarioError([Problem("error", message, path, line)])
    document = found[0]
    wrong = _identity(document, path)
    if wrong is not None:
        raise ScenarioError([wrong])
    scenario = decode(document, Scenario, path, problems)
    # In a document of ours a misspelt field would be a fault that silently never happens.
    problems = [
        msgspec.structs.replace(problem, severity="error", message=problem.message.replace(", ignored", ""))
        for problem in problems
    ]
    mistyped = {problem.field for problem in problems}
    file = ScenarioFile(msgspec.structs.replace(scenario, name=scenario.name or name), path, document.root)
    problems += [file.problem(error) for error in validate(scenario) if not _echoes(error.path, mistyped)]
    if problems:
        raise ScenarioError(sorted(problems, key=lambda problem: problem.line))
    return file


def _identity(document: Document, path: Path | None) -> Problem | None:
    root = document.root
    written = (root.text_of("apiVersion"), root.text_of("kind"))
    if written == (API_VERSION, KIND):
        return None
    value = shorten(go_quote(" ".join(part for part in written if part)))
    return Problem("error", f"Unsupported value: {value}: must be {API_VERSION} {KIND}", path, root.line, "kind")


def _echoes(path: str, mistyped: set[str]) -> bool:
    """True for a mistake that follows from one of a type, which left the field unset."""
    inside = any(f"{path}.".startswith((f"{field}.", f"{field}[")) for field in mistyped)
    return inside or any(field.startswith((f"{path}.", f"{path}[")) for field in mistyped)
