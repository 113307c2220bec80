"""Reads the pods of a node for tests from files, texts and objects."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from probelet.errors import ManifestError
from probelet.spec.read.load import Manifest, load, read_pods, unique
from probelet.spec.read.objects import Rules
from probelet.spec.text.problem import Problem
from probelet.virtual.argument import check_type

Manifests: TypeAlias = "Path | str | Mapping[str, Any] | Iterable[Manifests]"
"""A file or directory, a text in YAML or JSON, an object, or several of these. A ``str`` is a text if it has a line
break or begins with ``{``, else a path."""

OPT_OUT: Final = "strict=False takes manifests with warnings"


def read(manifests: Iterable[Manifests], *, strict: bool, replicas: bool = False) -> list[Manifest]:
    """The pods with their workloads, in the order of files, then texts and objects. ``strict``: a warning is a mistake
    too. ``replicas``: a workload has as many pods as it asks for.

    Raises:
        ManifestError: a manifest has a mistake, or there is no pod.
    """
    # pytest shows the test's own line for a mistake, and not where this package found it.
    __tracebackhide__ = True
    check_type("strict", strict, bool)
    paths: list[Path] = []
    found: list[Any] = []
    problems: list[Problem] = []
    for number, source in enumerate(flat(manifests)):
        if isinstance(source, Path):
            paths.append(source)
            continue
        place = Path(f"manifests[{number}]")
        text = source if isinstance(source, str) else msgspec.json.encode(source).decode()
        read = read_pods(place, text, Rules(replicas=replicas))
        found += read.pods
        # The text of an object is one line, and no line of the caller's.
        problems += read.problems if isinstance(source, str) else [_without_line(each) for each in read.problems]
    files = load(paths, replicas=replicas)
    kept = unique([*files.pods, *found])
    _check([*files.problems, *problems, *kept.problems], strict=strict)
    if not kept.pods:
        raise ManifestError("no pod in the manifests")
    return list(kept.pods)


def flat(manifests: Iterable[Manifests]) -> Iterator[Path | str | Mapping[str, Any]]:
    """Each file or directory, text and object by itself.

    Raises:
        ManifestError: an empty text names no file and holds no manifest.
        TypeError: something is no manifest.
    """
    __tracebackhide__ = True
    for each in manifests:
        match each:
            case str() if not each.strip():
                raise ManifestError(f"manifests: {each!r}: is empty; give a path, or a text with a manifest")
            case str():
                yield each if "\n" in each or each.lstrip().startswith("{") else Path(each)
            case Path() | Mapping():
                yield each
            case Iterable() if not isinstance(each, bytes):
                yield from flat(each)
            case _:
                raise TypeError(f"manifests: {each!r}: must be a path, a text, an object, or several of these")


def _check(problems: list[Problem], *, strict: bool) -> None:
    __tracebackhide__ = True
    has_error = any(problem.severity == "error" for problem in problems)
    if has_error or (strict and problems):
        lines = [str(problem) for problem in problems if strict or problem.severity == "error"]
        raise ManifestError("\n".join(lines if has_error else [*lines, OPT_OUT]))


def _without_line(problem: Problem) -> Problem:
    return msgspec.structs.replace(problem, line=0)
