"""The part of ``requirements.lock`` that a running probelet needs: without the tools of its developers."""

import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def runtime_lock(root: Path) -> str:
    """The pins and hashes of probelet's dependencies and of theirs, for this interpreter and platform."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    names = _closure([Requirement(text) for text in project["dependencies"]])
    pins = _pins((root / "requirements.lock").read_text())
    return "".join(pins[name] for name in sorted(names))


def _closure(requirements: list[Requirement]) -> set[str]:
    """The names to which the requirements lead, read from the installed packages of the developers' environment."""
    found: set[str] = set()
    wanted = [requirement.name for requirement in requirements if _applies(requirement)]
    while wanted:
        if (name := canonicalize_name(wanted.pop())) not in found:
            found.add(name)
            wanted += _needs(distribution(name))
    return found


def _needs(found: Distribution) -> list[str]:
    return [needed.name for needed in map(Requirement, found.requires or []) if _applies(needed)]


def _applies(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _pins(lock: str) -> dict[str, str]:
    """The lines of each package in the lock: the pin, and its hashes below."""
    found: dict[str, str] = {}
    name = ""
    for line in lock.splitlines(keepends=True):
        if not line.startswith(("#", " ")):
            name = canonicalize_name(line.partition("==")[0])
        found[name] = found.get(name, "") + line
    return found
