"""Changes as edits of a text: only the characters of the fields that change."""

import re
from typing import Final, NamedTuple

from probelet.errors import ProbeletError
from probelet.lint.change import Change, Plain, Remove, Replace, Set
from probelet.lint.fix.render import block, flow, scalar
from probelet.lint.fix.span import content_end
from probelet.spec.read.tree import Member, Node, members_on_way, steps

_GAP: Final = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")


class NoEdit(ProbeletError):
    """The text has a form in which this change has no safe edit."""


class Edit(NamedTuple):
    """Characters that another text replaces."""

    start: int
    end: int
    text: str


def edit(text: str, root: Node, path: str, change: Change) -> Edit:
    """The edit for the change of the field at ``path`` of a document. Raises ``NoEdit``."""
    way, found = steps(path), list(members_on_way(root, path))
    if len(found) < len(way):
        raise NoEdit(f"{path}: its parent is not in the text")
    # The first member is the document itself.
    parent = found[len(way) - 1].node
    if any(member.node.is_shared for member in found) or not isinstance(parent.value, dict):
        raise NoEdit(f"{path}: an alias shares it")
    member = found[len(way)] if len(found) > len(way) else None
    if member is None:
        if isinstance(change, Set):
            return _added(text, parent, way[-1], change.value)
        raise NoEdit(f"{path}: it is not in the text")
    match change:
        case Set():
            return _set(text, member, change.value)
        case Remove():
            return _removed(text, parent, way[-1])
        case Replace():
            return _replaced(text, parent, member, change.name, change.value)


def _begin(member: Member) -> int:
    """The index of a key."""
    if member.start is None:
        raise NoEdit("a key without a place")
    return member.start.index


def _is_json(text: str, parent: Node) -> bool:
    """True if the keys of this mapping have quotes, so that a new one has them too."""
    members = list(parent.value.values()) if isinstance(parent.value, dict) else []
    return parent.is_flow and bool(members) and text[_begin(members[0])] == '"'


def _set(text: str, member: Member, value: Plain) -> Edit:
    node = member.node
    if isinstance(node.value, dict | list) or isinstance(value, dict | list):
        raise NoEdit("only a plain value can be given to a field that is there")
    assert node.start is not None
    assert node.end is not None
    start, end = node.start.index, node.end.index
    if start == end or text[start] in "&!|>":
        raise NoEdit("the value is empty, has an anchor or a tag, or is a block")
    return Edit(start, end, scalar(value, is_json=text[start] == '"' and isinstance(value, str)))


def _added(text: str, parent: Node, name: str, value: Plain) -> Edit:
    members = list(parent.value.values()) if isinstance(parent.value, dict) else []
    if not members:
        raise NoEdit("the mapping is empty")
    line_break = "\r\n" if "\r\n" in text else "\n"
    last = max(members, key=_begin)
    column = members[0].start.column if members[0].start is not None else 0
    end = content_end(last.node, text)
    if parent.is_flow:
        return _added_in_flow(text, parent, end, _member(text, parent, name, value), line_break)
    if len({member.start.column for member in members if member.start is not None}) > 1:
        raise NoEdit("the keys of this mapping do not stand below each other")
    at = text.find("\n", end)
    at = len(text) if at < 0 else at - (text[at - 1] == "\r")
    before = f"{line_break}{' ' * column}"
    return Edit(at, at, before + line_break.join(block(name, value, column, 2)))


def _member(text: str, parent: Node, name: str, value: Plain) -> str:
    is_json = _is_json(text, parent)
    return f"{scalar(name, is_json=is_json)}: {flow(value, is_json=is_json)}"


def _added_in_flow(text: str, parent: Node, end: int, member: str, line_break: str) -> Edit:
    """A last member in braces, on a line of its own if the others are; KYAML has a comma behind the last one."""
    members = list(parent.value.values()) if isinstance(parent.value, dict) else []
    assert parent.start is not None
    own_line = members[0].start is not None and members[0].start.line > parent.start.line
    column = members[0].start.column if members[0].start is not None else 0
    before = f"{line_break}{' ' * column}" if own_line else " "
    gap = _GAP.match(text, end)
    assert gap is not None
    if text[gap.end()] == ",":
        at = gap.end() + 1
        return Edit(at, at, f"{before}{member}{',' if own_line else ''}")
    return Edit(end, end, f",{before}{member}")


def _removed(text: str, parent: Node, name: str) -> Edit:
    assert isinstance(parent.value, dict)
    order = sorted(parent.value.items(), key=lambda item: _begin(item[1]))
    at = next(index for index, (key, _) in enumerate(order) if key == name)
    member = order[at][1]
    if len(order) == 1:
        raise NoEdit("the mapping would be empty")
    line = text.rfind("\n", 0, _begin(member)) + 1
    if not parent.is_flow and not text[line : _begin(member)].strip(" "):
        following = text.find("\n", content_end(member.node, text))
        return Edit(line, len(text) if following < 0 else following + 1, "")
    if at + 1 < len(order):
        # Up to the next key: whatever stood before this one stands before that one then.
        return Edit(_begin(member), _begin(order[at + 1][1]), "")
    return Edit(content_end(order[at - 1][1].node, text), content_end(member.node, text), "")


def _replaced(text: str, parent: Node, member: Member, name: str, value: Plain) -> Edit:
    start, end = _begin(member), content_end(member.node, text)
    is_inline = parent.is_flow or member.node.is_flow or not isinstance(value, dict)
    if is_inline:
        return Edit(start, end, _member(text, parent, name, value))
    assert member.start is not None
    column = member.start.column
    inner = member.node.start.column - column if member.node.start is not None else 2
    line_break = "\r\n" if "\r\n" in text else "\n"
    return Edit(start, end, line_break.join(block(name, value, column, inner if 0 < inner <= 8 else 2)))
