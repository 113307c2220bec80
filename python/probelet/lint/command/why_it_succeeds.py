"""Why a command succeeds whatever the container does."""

import re
from typing import Final

from probelet.lint.command.shell import program, script, simple_command
from probelet.lint.command.statements import statements

_PROCESS_1: Final = re.compile(r"/proc/(1|self)(/.*)?")
_DIRECTORY: Final = re.compile(r"/|/(proc|tmp|dev|etc|bin|usr)/?")
_FILE: Final = re.compile(r"/proc/(1|self)/.+|/etc/(passwd|hosts|hostname|resolv\.conf|os-release)")
_NOTHING: Final = frozenset({"true", ":", "echo", "printf", "date", "hostname", "whoami", "id", "pwd"})
_SWALLOWED: Final = re.compile(r"(\|\||;)\s*+(true|:|exit\s++0|echo\b[^|&;]*+)\s*+;?\s*+$")
_BRANCHES: Final = re.compile(r"\n|\b(if|while|case|exec|return)\b|\bexit\s+[^0\s]|\bset\s+-\w*e|[{(]")
_FROM_OR_TO_A_FILE: Final = re.compile(r"[<>]\s*+(?!&|>|<|\(|\s|/dev/(null|stdout|stderr)\b|/proc/(1|self)/fd/)")
"""A redirection that may fail: a file that is not there, a disk that is full or read-only, a port of ``/dev/tcp``."""

_JOINED: Final = re.compile(r"[;|]|&&")


def why_it_succeeds(argv: list[str]) -> str | None:
    """The reason, as the beginning of a sentence; None if the command may fail."""
    return _of_text(script(argv)) or _of_words(_only_program(argv))


def _only_program(argv: list[str]) -> list[str]:
    """The one program of a command with its arguments; empty if a shell does more than run it."""
    text = script(argv)
    if text is None or simple_command(argv) is not None:
        return simple_command(argv) or []
    if _FROM_OR_TO_A_FILE.search(text) is not None:
        return []
    parts = list(statements(argv))
    return parts[0] if len(parts) == 1 and not _JOINED.search(text) and not _BRANCHES.search(text) else []


def _of_words(words: list[str]) -> str | None:
    """Why one program always succeeds; None if it may fail."""
    name, option = program(words), next((word for word in words[1:] if word.startswith("-")), "")
    plain = [word for word in words[1:] if not word.startswith("-") and word != "]"]
    path = plain[0] if len(plain) == 1 else ""
    if name in _NOTHING or (name == "exit" and plain in ([], ["0"])):
        return f"{' '.join([name, *plain[:1]])} always succeeds"
    if name == "kill" and words[1:] == ["-0", "1"]:
        return "process 1 exists as long as the container does"
    if name in ("cat", "head"):
        is_there = _FILE.fullmatch(path)
    elif name in ("ls", "stat") or (name in ("test", "[") and option in ("-d", "-e")):
        is_there = _PROCESS_1.fullmatch(path) or _DIRECTORY.fullmatch(path)
    else:
        return None
    return None if is_there is None else f"{path} exists as long as the container does"


def _of_text(text: str | None) -> str | None:
    """Why the text of a shell always succeeds; None if it may fail."""
    if text is None or "\n" in text.strip():
        return None
    if (found := _SWALLOWED.search(text)) is not None and not _BRANCHES.search(text):
        return f"{found[0].strip()!r} at the end makes a success of every failure"
    parts = list(statements(["sh", "-c", text]))
    programs, is_joined = [program(each) for each in parts], _JOINED.search(text) is not None
    for words in parts:
        options = "".join(word for word in words[1:] if re.fullmatch(r"-[a-z]+", word))
        # A bracket in the pattern keeps it from finding itself, and a shell that runs one program becomes this program.
        is_open = len(words) > 1 and not re.search(r"[\[^]", words[-1]) and "x" not in options and "v" not in options
        if program(words) == "pgrep" and "f" in options and is_open and is_joined:
            return "pgrep -f finds the shell that runs it, because the text stands in the shell's arguments too"
        if programs == ["ps", "grep"] and program(words) == "grep" and is_open:
            return "grep finds its own line in the output of ps"
    return None
