"""Commands that ask no server: they look at processes, or at files that are there whatever the server does."""

import re
from typing import Final, Literal, TypeAlias

from probelet.lint.command.shell import program
from probelet.lint.command.statements import statements

Looks: TypeAlias = Literal["processes", "files"]

OF_PROCESSES: Final = frozenset({"ps", "pgrep", "pidof"})
_OF_FILES: Final = frozenset({"ls", "stat", "test", "[", "[[", "cat", "head", "df", "mountpoint", "readlink"})
_AROUND: Final = frozenset(
    {"grep", "egrep", "wc", "test", "[", "[[", "exit", "awk", "head", "tail", "tr", "sort", "echo"}
)
_MADE_BY_PROGRAMS: Final = re.compile(
    r"^/(tmp|run|var/run|var/tmp|dev/shm|var/lock)/.|health|live|ready|start|beat|\bpid|\.pid|\bup\b|\bok\b|lock|init|sock",
    re.IGNORECASE,
)
"""Paths that a program makes, touches or removes to say how it is."""

_OF_A_FILE: Final = frozenset({"cat", "head", "test", "[", "[["})


def looks_at(argv: list[str]) -> Looks | None:
    """The things that a command looks at, if nothing else decides its answer; None if it may ask a server or read what
    one writes."""
    found = [(program(words), words[1:]) for words in statements(argv)]
    names = {name for name, _ in found}
    if names & OF_PROCESSES and names <= OF_PROCESSES | _AROUND:
        return "processes"
    if not found or not names <= _OF_FILES | _AROUND or not names & _OF_FILES:
        return None
    return "files" if all(_is_lasting(name, words) for name, words in found) else None


def directories(argv: list[str]) -> list[str]:
    """The paths that the ``ls`` of a command lists."""
    return [
        word for words in statements(argv) if program(words) == "ls" for word in words[1:] if not word.startswith("-")
    ]


def _is_lasting(name: str, words: list[str]) -> bool:
    """False if the program reads a file that another one may make or remove as a sign, or anything but files."""
    paths = [word for word in words if word.startswith("/")]
    if name in ("test", "[", "[["):
        # A comparison of values is about what another command has printed.
        return bool(paths) and not any("`" in word or "$" in word for word in words) and not _is_sign(paths)
    return not _is_sign(paths) and (name not in _OF_A_FILE or bool(paths) or not words)


def _is_sign(paths: list[str]) -> bool:
    return any(map(_MADE_BY_PROGRAMS.search, paths))
