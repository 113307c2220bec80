"""Places in a text: from a node of its tree to line and column."""

import re
from typing import Final, NamedTuple

from probelet.spec.read.tree import Mark, Node, members_on_way

_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_PAIR_SHORTER: Final = 2
"""The reader makes one escape of a JSON text's surrogate pair, which is so many characters shorter."""


class Position(NamedTuple):
    """A place for a person: both count from 1, the column in characters."""

    line: int
    column: int


class ManifestText:
    """A text whose trees are known."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        """The file's name in messages."""
        self.text = text
        is_json = text.lstrip().startswith("{")
        self._lines = text.split("\n") if is_json and _PAIR.search(text) else None

    def position(self, mark: Mark | None, line: int = 1) -> Position:
        """The place of a mark; without one the beginning of ``line``."""
        if mark is None:
            return Position(line, 1)
        column = mark.column
        if self._lines is not None:
            for pair in _PAIR.finditer(self._lines[mark.line]):
                if pair.start() >= column:
                    break
                column += _PAIR_SHORTER
        return Position(mark.line + 1, column + 1)

    def place(self, root: Node, path: str) -> Position:
        """The place of the field at ``path``, its key's if it has one, or that of its nearest parent in the text."""
        *_, last = members_on_way(root, path)
        return self.position(last.start, last.line)


def lines_around(root: Node, path: str) -> list[int]:
    """The first line of ``root``, and the lines on which the keys and list elements on the way to the field at ``path``
    begin; its own is the last."""
    return [member.line for member in members_on_way(root, path)]
