"""Commands inside a shell."""

import re
import shlex
from functools import lru_cache
from typing import Final

SHELLS: Final = frozenset({"sh", "bash", "ash", "dash", "zsh", "busybox"})

_TEXT_FOLLOWS: Final = re.compile(r"-[a-z]*c")

# What makes a line of a shell more than one program with its arguments. A `$(NAME)` of Kubernetes is none of it: it is
# replaced before the shell starts.
_SYNTAX: Final = re.compile(r"[;&|<>`\n(){}*?\[\]~#]|\$")
# No pattern reads a space twice: a match begins before all spaces, and gives none back.
_REDIRECT: Final = re.compile(r"(?<!\s)\s++(?:[12]?>(?:\s*+/dev/null|&[12])|&>\s*+/dev/null)")
# A failure becomes the exit code 1, which is a failure anyway.
_EXIT: Final = re.compile(r"(?<!\s)\s*+\|\|\s*+exit\s++[1-9][0-9]*+\s*+;?\s*+$")


def program(argv: list[str]) -> str:
    """The program's name without its directory."""
    return argv[0].rpartition("/")[2] if argv else ""


def script(argv: list[str]) -> str | None:
    """The text that a shell runs; None if the command is no shell with a text."""
    words = argv[1:] if program(argv) == "busybox" else argv
    if not words or program(words) not in SHELLS:
        return None
    for index, word in enumerate(words[1:], start=1):
        if _TEXT_FOLLOWS.fullmatch(word):
            return words[index + 1] if index + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def simple_command(argv: list[str]) -> list[str] | None:
    """The one program that runs, with its arguments: the command itself, or what its shell runs. None if the shell does
    more than that, such as expanding a variable or joining commands. Output that goes nowhere, ``exec`` and
    ``|| exit 1`` change nothing."""
    text = script(argv)
    if text is None:
        return argv or None
    text = _EXIT.sub("", _REDIRECT.sub("", text.strip()))
    if _SYNTAX.search(text):
        return None
    words = list(_words(text))
    if words[:1] == ["exec"]:
        words = words[1:]
    return simple_command(words) if words else None


@lru_cache(1024)
def _words(text: str) -> tuple[str, ...]:
    """The words of a line; none if a quotation does not end."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()
