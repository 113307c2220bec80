"""The programs that the text of a shell runs, as far as its words show them."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from probelet.lint.command.shell import script

DEEPEST: Final = 4
"""Shells inside shells and substitutions that are followed; nobody writes more."""

LINES_KEPT: Final = 256
"""A dozen rules read each command, and many containers have the same one. The longest ones take 300 MB."""

_OPERATOR: Final = re.compile(r"[();<>|&]+")
_SUBSTITUTION: Final = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_KEYWORDS: Final = frozenset(
    {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "exec", "time", "command"}
)
_ASSIGNMENT: Final = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")
_TIMEOUT_VALUES: Final = frozenset({"-s", "-k", "--signal", "--kill-after"})
"""The options of coreutils' timeout whose value is a word of its own."""

_OWN_NAME: Final = re.compile(r"hostname(\s++(-[fiIs]+|--fqdn|--ip-address|--short))?")

SUBSTITUTED: Final = "`"
"""The place of a substituted command's output: no host and no path has this character."""


def statements(argv: list[str]) -> Iterator[list[str]]:
    """Each program with its arguments: the command itself, or every one in the text of its shell, in any order. Words
    that a shell would expand stay as written, except that a substituted command's output becomes ``SUBSTITUTED``."""
    return map(list, _kept(tuple(argv)))


@lru_cache(LINES_KEPT)
def _kept(argv: tuple[str, ...]) -> tuple[list[str], ...]:
    return tuple(_statements([*argv], DEEPEST))


def _statements(argv: list[str], depth: int) -> Iterator[list[str]]:
    text = script(argv)
    if text is None:
        words = _bare(argv)
        if words and words != argv and depth:
            yield from _statements(words, depth - 1)
        elif words:
            yield words
    elif depth:
        yield from _of_text(text, depth - 1)


def _of_text(text: str, depth: int) -> Iterator[list[str]]:
    for found in _SUBSTITUTION.finditer(text):
        if depth:
            yield from _of_text(found[1] or found[2] or "", depth - 1)
    words: list[str] = []
    for line in _SUBSTITUTION.sub(_output, text).replace("\\\n", " ").splitlines():
        words += [*_words(line), ";"]
    statement: list[str] = []
    for word in words:
        if not _OPERATOR.fullmatch(word):
            statement.append(word)
        elif "<" in word or ">" in word:
            # The word behind it is a file. As an argument it does no harm: it names no host.
            continue
        else:
            yield from _statements(statement, depth)
            statement = []


def _output(found: re.Match[str]) -> str:
    """The text in place of a substituted command's output: the name and the address of the pod are a variable's."""
    return "$HOSTNAME" if _OWN_NAME.fullmatch((found[1] or found[2] or "").strip()) else SUBSTITUTED


def _words(line: str) -> tuple[str, ...]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return tuple(lexer)
    except ValueError:
        # A quotation over several lines: its words are data, and no program.
        return ()


def _bare(words: list[str]) -> list[str]:
    """The words of a program without what stands before it: keywords, assignments, ``timeout 5``, ``env A=b``."""
    index = 0
    while index < len(words):
        word = words[index]
        if word in _KEYWORDS or _ASSIGNMENT.match(word) or word == "env":
            index += 1
        elif word.rpartition("/")[2] == "timeout":
            index += 1
            while index < len(words) and words[index].startswith("-"):
                index += 2 if words[index] in _TIMEOUT_VALUES else 1
            index += 1
        else:
            break
    return words[index:]
