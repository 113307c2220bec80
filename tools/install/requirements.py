"""The part of ``requirements.lock`` that a running probelet needs: without the tools of its developers."""

import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def runtime_lock(root: Path, python: str) -> str:
    """The pins and hashes of probelet's dependencies and of theirs, for a Python of version ``python``, as 3.11.2."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    names = closure(project["dependencies"], python)
    pins = _pins((root / "requirements.lock").read_text())
    return "".join(pins[name] for name in sorted(names))


def closure(texts: list[str], python: str) -> set[str]:
    """The names to which the requirements lead, read from the installed packages of the developers' environment."""
    variables = {"extra": "", "python_full_version": python, "python_version": ".".join(python.split(".")[:2])}
    found: set[str] = set()
    wanted = list(texts)
    while wanted:
        requirement = Requirement(wanted.pop())
        applies = requirement.marker is None or requirement.marker.evaluate(variables)
        if applies and (name := canonicalize_name(requirement.name)) not in found:
            found.add(name)
            wanted += _needs(name)
    return found


def _needs(name: str) -> list[str]:
    """The requirements of a package. Only a backport for an older Python is not installed, and it needs no other."""
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


def _pins(lock: str) -> dict[str, str]:
    """The lines of each package in the lock: the pin, and its hashes below."""
    found: dict[str, str] = {}
    name = ""
    for line in lock.splitlines(keepends=True):
        if not line.startswith(("#", " ")):
            name = canonicalize_name(line.partition("==")[0])
        found[name] = found.get(name, "") + line
    return found
