"""Whether the failure of each program in a shell's text is the failure of the command."""

import re
from typing import Final

from probelet.lint.command.shell import script

_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\\.|#[^\n]*")
_FAILS: Final = re.compile(r"\|\|\s*+(\{\s*+)?(exit\s++[1-9$]|false\b|return\s++[1-9]|kill\b)")
_ELSEWHERE: Final = re.compile(
    r"\|\||\b(else|elif|for|while|until|case|select|trap)\b|\b(exit|return)\s++0\b|(?<![&><|])&(?![&>0-9-])"
)
_PIPE: Final = re.compile(r"(?<!\|)\|(?!\|)\s*+!?\s*+([\w.-]*)")
_JUDGES: Final = frozenset({"grep", "egrep", "fgrep", "rg"})
"""Programs that fail without the answer that they look for."""

_NEXT: Final = re.compile(r"[;\n]\s*+(?!\s|then\b|fi\b|do\b|done\b|\}|exit\b|$)")
_ENDS_AT_A_FAILURE: Final = re.compile(r"\bset\s++-[a-zA-Z]*e|-o\s++errexit")
_OPTION_E: Final = re.compile(r"-[a-z]*e[a-z]*")


def decides(argv: list[str]) -> bool:
    """True if nothing in the command goes on after the failure of one of its programs: no ``||`` to anything but a
    failure, no branch, no loop, no later statement. So a program that fails lets the attempt fail."""
    text = script(argv)
    if text is None:
        return True
    bare = _FAILS.sub("", _QUOTED.sub("_", text.strip()))
    if _ELSEWHERE.search(bare):
        return False
    last = [*_PIPE.finditer(bare)][-1:]
    if last and last[0][1] not in _JUDGES and "pipefail" not in text:
        # The exit code is that of the last program, which only passes the answer on.
        return False
    ends = _ENDS_AT_A_FAILURE.search(text) is not None or any(map(_OPTION_E.fullmatch, argv[1:-1]))
    return ends or _NEXT.search(bare) is None
