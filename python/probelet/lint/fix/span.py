"""Spans of members and comments in a text."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.spec.read.tree import Node

_COMMENT: Final = re.compile(r"(?:^|(?<=[ \t]))#[^\r\n]*", re.MULTILINE)


def content_end(node: Node, text: str) -> int:
    """The index behind the last character of a value. The parser ends a block collection at the next token; its content
    ends with that of its last element."""
    value = node.value
    if not node.is_flow:
        if isinstance(value, dict) and value:
            return max(content_end(member.node, text) for member in value.values())
        if isinstance(value, list) and value:
            return max(content_end(item, text) for item in value)
    assert node.end is not None
    end = node.end.index
    # A block scalar, and an empty value, end behind the line breaks that follow them.
    while end > 0 and text[end - 1] in " \t\r\n":
        end -= 1
    return end


def scalar_spans(node: Node) -> Iterator[tuple[int, int]]:
    """The spans of all scalars of a tree."""
    match node.value:
        case dict():
            for member in node.value.values():
                yield from scalar_spans(member.node)
        case list():
            for item in node.value:
                yield from scalar_spans(item)
        case _:
            if node.start is not None and node.end is not None:
                yield node.start.index, node.end.index


def comments(text: str, roots: list[Node]) -> list[str]:
    """The comments of a text with these documents, in their order."""
    return [text[start:end] for start, end in comment_spans(text, roots)]


def comment_spans(text: str, roots: list[Node]) -> Iterator[tuple[int, int]]:
    """The spans of the comments of a text with these documents: a # in a scalar is none."""
    spans = sorted(span for root in roots for span in scalar_spans(root))
    at = 0
    for match in _COMMENT.finditer(text):
        while at < len(spans) and spans[at][1] <= match.start():
            at += 1
        if at == len(spans) or match.start() < spans[at][0]:
            yield match.span()
