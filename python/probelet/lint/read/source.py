"""The files behind the paths of a command line."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from probelet.base.printable import printable
from probelet.spec.read.load import STDIN, SUFFIXES, Text, manifest_text

PASSED_OVER: Final = frozenset({"node_modules"})
"""Directories of packages, beside those whose name begins with a dot."""


class Source(NamedTuple):
    """A file to lint."""

    path: Path
    name: str
    """The path as the user wrote it; ``-`` for standard input."""
    is_named: bool = False
    """The user named the file itself, and not a directory above it."""

    @property
    def scope(self) -> str:
        """The directory. The objects of one directory are seen together."""
        return "" if self.path == STDIN else str(self.path.parent.absolute())

    def text(self) -> Text:
        """The text, or the reason why there is none."""
        return manifest_text(self.path)


class Unlisted(NamedTuple):
    """A directory that cannot be listed."""

    name: str
    reason: str


def sources(paths: Sequence[Path]) -> Iterator[Source | Unlisted]:
    """The files, each once: a file is itself, a directory stands for the manifests in and below it (``*.yaml``,
    ``*.yml``, ``*.json``) in the order of their names. Links to directories are not followed, so no way is endless."""
    seen: set[Path] = set()
    for path in paths:
        name = "-" if path == STDIN else printable(str(path))
        found = below(path) if _is(path.is_dir) else [Source(path, name, is_named=True)]
        for source in found:
            if isinstance(source, Unlisted):
                yield source
            elif (absolute := source.path.absolute()) not in seen:
                seen.add(absolute)
                yield source


def below(folder: Path) -> Iterator[Source | Unlisted]:
    """The manifests in and below a directory, without directories whose name begins with a dot."""
    waiting = [folder]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Unlisted(printable(str(folder)), str(error.strerror))
            continue
        kept = [entry for entry in found if not entry.name.startswith(".") and entry.name not in PASSED_OVER]
        folders = dict.fromkeys(entry.name for entry in kept if _is(entry.is_dir, follow_symlinks=False))
        for entry in kept:
            is_manifest = entry.name not in folders and Path(entry.name).suffix in SUFFIXES
            # A file that nobody can look at, such as a link in a circle, is one that cannot be read.
            if is_manifest and _is(entry.is_file, unknown=True):
                yield Source(folder / entry.name, printable(str(folder / entry.name)))
        waiting += [folder / name for name in reversed(folders)]


def _is(look: Callable[..., bool], *, unknown: bool = False, **options: bool) -> bool:
    """The answer of ``look``; ``unknown`` if the system refuses to look."""
    try:
        return look(**options)
    except OSError:
        return unknown
