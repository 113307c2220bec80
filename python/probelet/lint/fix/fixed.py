"""Carries out fixes in a text, one after the other, and believes none of them."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from probelet.lint.finding import Finding
from probelet.lint.fix.change import Change
from probelet.lint.fix.edit import NoEdit, edit
from probelet.lint.fix.plain import changed, joined
from probelet.lint.fix.span import comments
from probelet.spec.read.tree import TreeError, documents

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
    for finding in findings:
        if finding.fix is None or not finding.fix.is_safe or not finding.fix.changes:
            continue
        after = _changed_text(text, finding.document, finding.prefix, finding.fix.changes)
        if after is None:
            left.append(finding)
        else:
            done.append(finding)
            text = after
    return Fixed(text, done, left)


def _changed_text(text: str, document: int, prefix: str, changes: tuple[Change, ...]) -> str | None:
    """The text with the changes, or None if it cannot have them."""
    if _SHORTENED.search(text):
        return None
    try:
        before = [found.root for found in documents(text)]
        wanted = [root.plain() for root in before]
        wanted[document] = changed(wanted[document], prefix, changes)
        after = text
        for change in changes:
            root = [found.root for found in documents(after)][document]
            start, end, replacement = edit(after, root, joined(prefix, change.path), change)
            after = after[:start] + replacement + after[end:]
        found = [each.root for each in documents(after)]
    except (NoEdit, TreeError, LookupError, TypeError, ValueError):
        return None
    if [root.plain() for root in found] != wanted or comments(after, found) != comments(text, before):
        return None
    return after
