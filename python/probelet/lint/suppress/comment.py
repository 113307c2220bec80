"""Suppressions in comments: ``# probelet-lint: disable=PL101 reason=...``.

A comment at the end of a line counts for everything that begins on this line, with all that is in it: behind
``livenessProbe:`` for the whole probe, behind ``- name: app`` for the container. A comment on a line of its own counts
for the next line that has more than a comment; above the first line of an object for the whole object.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from probelet.lint.fix.span import scalar_spans
from probelet.lint.read.text import ManifestText, Position
from probelet.lint.suppress.entry import WANTED, Entry, read_entry
from probelet.spec.read.tree import Node

MARK: Final = "probelet-lint:"

_COMMENT: Final = re.compile(rf"(?:^|(?<=\s))#[ \t]*{MARK}(?P<words>[^\r\n]*)", re.MULTILINE)
_DISABLE: Final = re.compile(r"\s*disable\s*=\s*(?P<entry>.*)")
_EMPTY: Final = re.compile(r"\s*(?:#.*|---.*|)")


class Comment(NamedTuple):
    """One suppression."""

    line: int
    """The line that it counts for, from 1."""
    position: Position
    """The comment's own place."""
    entry: Entry


def comments(text: ManifestText, roots: Sequence[Node]) -> Iterator[Comment]:
    """The suppressions of a text with these documents. The words in a text, such as a ConfigMap's, are no comment."""
    if MARK not in text.text:
        return
    spans = [span for root in roots for span in scalar_spans(root)]
    lines = text.text.split("\n")
    for match in _COMMENT.finditer(text.text):
        if any(start <= match.start() < end for start, end in spans):
            continue
        line = text.text.count("\n", 0, match.start())
        column = match.start() - (text.text.rfind("\n", 0, match.start()) + 1)
        own = bool(lines[line][:column].strip())
        target = line if own else next((at for at in range(line, len(lines)) if not _EMPTY.fullmatch(lines[at])), line)
        yield Comment(target + 1, Position(line + 1, column + 1), _entry(match["words"]))


def _entry(words: str) -> Entry:
    match = _DISABLE.fullmatch(words)
    return read_entry(match["entry"] if match is not None else f"? write disable={WANTED}")
