"""Carries out fixes in a text, one after the other, and believes none of them."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from probelet.lint.change import Change
from probelet.lint.finding import Finding
from probelet.lint.fix.edit import NoEdit, edit
from probelet.lint.fix.plain import changed, joined
from probelet.lint.fix.span import comments
from probelet.spec.read.tree import Node, TreeError, documents

# The reader of JSON texts shortens these, so places behind them are not those of the text.
_SHORTENED: Final = re.compile(r"\\u[dD][89abAB]")


class Fixed(NamedTuple):
    """A text after its fixes."""

    text: str
    done: list[Finding]
    left: list[Finding]
    """The findings whose fix has no safe edit in this layout."""


def fixed(text: str, findings: Iterable[Finding]) -> Fixed:
    """Carries out the safe fixes of these findings, all of one text.

    After each of them the text is read again: its documents have to be the old ones with exactly the change, and all
    comments have to be there. Otherwise the text stays as it was before that fix.
    """
    done: list[Finding] = []
    left: list[Finding] = []
    read: _Read | None = None
    for finding in findings:
        if finding.fix is None or not finding.fix.is_safe or not finding.fix.changes:
            continue
        if read is None:
            read = _read(text)
        after = None if read is None else _changed(read, finding.document, finding.prefix, finding.fix.changes)
        if after is None:
            left.append(finding)
        else:
            done.append(finding)
            read = after
    return Fixed(text if read is None else read.text, done, left)


class _Read(NamedTuple):
    """A text and its documents."""

    text: str
    roots: list[Node]


def _read(text: str) -> _Read | None:
    """None for a text that no fix can change."""
    if _SHORTENED.search(text):
        return None
    try:
        return _Read(text, [document.root for document in documents(text)])
    except TreeError:
        return None


def _changed(before: _Read, document: int, prefix: str, changes: tuple[Change, ...]) -> _Read | None:
    """The text with the changes, or None if it cannot have them."""
    after: _Read | None = before
    try:
        wanted = [root.plain() for root in before.roots]
        wanted[document] = changed(wanted[document], prefix, changes)
        for change in changes:
            if after is None:
                return None
            start, end, replacement = edit(after.text, after.roots[document], joined(prefix, change.path), change)
            after = _read(after.text[:start] + replacement + after.text[end:])
    except (NoEdit, LookupError, TypeError, ValueError):
        return None
    if after is None or [root.plain() for root in after.roots] != wanted:
        return None
    return after if comments(after.text, after.roots) == comments(before.text, before.roots) else None
