"""Parses YAML into a tree with the places of its nodes, within the limits that a hostile file requires.

Rules
1. Scalars resolve as in sigs.k8s.io/yaml (the kubelet's reader, go-yaml 2): ``yes``, ``on`` and ``y`` are booleans,
   ``010`` is 8, ``1_000`` is 1000, dates and ``1:30`` stay text.
2. A duplicate key is reported and its last value counts, as for the kubelet.
3. Aliases and merge keys work. Their expansion is bounded, and no node may contain itself.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import yaml
import yaml._yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
)

from probelet.errors import ProbeletError

# Nodes that aliases may add to one file. Manifests share a probe or an env list, not thousands of nodes.
ALIAS_NODES_MAX = 100_000
# Values and brackets in one file: about fifteen thousand ordinary pods. A larger file only costs seconds of parsing.
NODES_MAX = 1_000_000
# A Pod is at most about twenty levels deep; the limit keeps every later recursion shallow.
DEPTH_MAX = 100


Mark: TypeAlias = yaml.error.Mark | yaml._yaml.Mark
"""A place in a text: ``line``, ``column`` and ``index`` count characters from 0."""


class TreeError(ProbeletError):
    """The text is not YAML, or exceeds a limit. ``line`` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Member(NamedTuple):
    """One entry of a mapping."""

    line: int
    """Line of the key, from 1."""
    node: "Node"
    start: Mark | None = None
    """The first character of the key; None for a member that no text has."""


Value: TypeAlias = "bool | int | float | str | list[Node] | dict[str, Member] | None"


class Node:
    """A value and its place in the text."""

    __slots__ = ("depth", "end", "is_flow", "is_shared", "line", "size", "start", "text", "value")

    def __init__(
        self,
        value: Value,
        line: int,
        text: str = "",
        start: Mark | None = None,
        end: Mark | None = None,
        *,
        is_flow: bool = False,
    ) -> None:
        self.value = value
        self.line = line
        self.text = text
        """The scalar without its quotes."""
        self.start = start
        """The first character, which is that of an anchor or a tag if the node has one."""
        self.end = end
        """The place behind the last character. A collection in block style ends where the next token begins."""
        self.is_flow = is_flow
        """A collection in brackets or braces."""
        self.is_shared = False
        """An alias names this node, so that a change of it changes several places."""
        self.size = 1
        """Nodes in this subtree with its aliases expanded."""
        self.depth = 0
        """Levels of this subtree below its root, with its aliases expanded."""

    def text_of(self, name: str) -> str:
        """The text of member ``name`` of a mapping; empty if the member is missing or no text."""
        member = self.value.get(name) if isinstance(self.value, dict) else None
        return member.node.value if member is not None and isinstance(member.node.value, str) else ""

    def plain(self) -> Any:
        """The value without line numbers, as JSON would hold it."""
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        if isinstance(self.value, dict):
            return {key: member.node.plain() for key, member in self.value.items()}
        return self.value


class Duplicate(NamedTuple):
    """A key that one mapping holds twice."""

    line: int
    field: str


class Document(NamedTuple):
    """One YAML document."""

    root: Node
    duplicates: list[Duplicate]


_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {
    word: truth
    for truth, words in (
        (True, ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")),
        (False, ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")),
    )
    for word in words
}
_FLOATS = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INT = re.compile(r"[-+]?(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]*))", re.A)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.A)
# No number of the API has more digits; a longer one stays text, which also keeps int() linear.
_DIGITS_MAX = 64

_STRING_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})
_SCALAR_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))
_COLLECTION_TAGS = frozenset({"!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})


def resolve(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar (go-yaml 2 ``resolve``)."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text in _FLOATS:
        return _FLOATS[text]
    if text[0] not in "+-.0123456789" or len(text) > _DIGITS_MAX:
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    if match := _INT.fullmatch(digits):
        for group, base in (("x", 16), ("b", 2), ("o", 8), ("d", 10)):
            if match[group] is not None:
                number = int(match[group], base)
                return -number if digits[0] == "-" else number
    # A number too large for a double stays text, as in Go.
    return float(digits) if _FLOAT.fullmatch(digits) and math.isfinite(float(digits)) else text


def _line(event: Event) -> int:
    """The line that an event starts on, from 1."""
    return event.start_mark.line + 1 if event.start_mark is not None else 0


class _Frame:
    """A collection whose end has not been parsed yet."""

    __slots__ = ("anchor", "is_merge", "key", "key_line", "key_start", "merged", "node")

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: str | None = None
        self.key_line = 0
        self.key_start: Mark | None = None
        self.is_merge = False
        """The open key is an unquoted ``<<``."""
        self.merged: set[str] = set()
        """Keys that came only from a merge: writing them out is no duplicate."""


class _Builder:
    """Builds one document from parser events without recursion."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.duplicates: list[Duplicate] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Node | None] = {}
        self._aliased = 0

    def handle(self, event: Event) -> None:
        # The most frequent events come first: much of a file's time goes by here.
        if isinstance(event, ScalarEvent):
            line = _line(event)
            node = self._scalar(event, line)
            if event.anchor:
                self._anchors[event.anchor] = node
            self._add(node, line, is_merge=event.value == "<<" and event.implicit[0])
        elif isinstance(event, CollectionEndEvent):
            frame = self._stack.pop()
            frame.node.end = event.end_mark
            if frame.anchor:
                self._anchors[frame.anchor] = frame.node
            self._add(frame.node, frame.node.line)
        elif isinstance(event, CollectionStartEvent):
            self._open(event, _line(event))
        elif isinstance(event, AliasEvent):
            line = _line(event)
            self._add(self._alias(event.anchor or "", line), line, start=event.start_mark)
        else:
            raise AssertionError(event)

    def _scalar(self, event: ScalarEvent, line: int) -> Node:
        text: str = event.value
        tag = event.tag
        if tag in _SCALAR_TAGS or (event.implicit[0] and tag is None):
            value = resolve(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise TreeError(f"{text} is no number of JSON", line)
            return Node(value, line, text, event.start_mark, event.end_mark)
        if tag is None or tag in _STRING_TAGS:
            return Node(text, line, text, event.start_mark, event.end_mark)
        raise TreeError(f"tag {tag} is not supported", line)

    def _open(self, event: CollectionStartEvent, line: int) -> None:
        if len(self._stack) >= DEPTH_MAX:
            raise TreeError(f"nested deeper than {DEPTH_MAX} levels", line)
        if event.tag is not None and event.tag not in _COLLECTION_TAGS:
            raise TreeError(f"tag {event.tag} is not supported", line)
        if self._stack and isinstance(self._stack[-1].node.value, dict) and self._stack[-1].key is None:
            raise TreeError("a key must be a text, not a list or a mapping", line)
        value: Value = {} if isinstance(event, MappingStartEvent) else []
        if event.anchor:
            self._anchors[event.anchor] = None
        node = Node(value, line, start=event.start_mark, is_flow=bool(event.flow_style))
        self._stack.append(_Frame(node, event.anchor))

    def _alias(self, anchor: str, line: int) -> Node:
        if anchor not in self._anchors:
            raise TreeError(f"alias *{anchor} has no anchor before it", line)
        node = self._anchors[anchor]
        if node is None:
            raise TreeError(f"alias *{anchor} refers to a node that contains it", line)
        if len(self._stack) + node.depth >= DEPTH_MAX:
            raise TreeError(f"aliases nest deeper than {DEPTH_MAX} levels", line)
        self._aliased += node.size
        if self._aliased > ALIAS_NODES_MAX:
            raise TreeError(f"aliases expand to more than {ALIAS_NODES_MAX} values", line)
        node.is_shared = True
        return node

    def _add(self, node: Node, line: int, *, is_merge: bool = False, start: Mark | None = None) -> None:
        """Adds a node to the open collection; ``start`` is the place of an alias, whose node stands elsewhere."""
        if not self._stack:
            self.root = node
            return
        frame = self._stack[-1]
        value = frame.node.value
        frame.node.size += node.size
        if frame.node.depth <= node.depth:
            frame.node.depth = node.depth + 1
        if isinstance(value, list):
            value.append(node)
        elif frame.key is None:
            frame.key, frame.key_line, frame.is_merge = self._key(node, line), line, is_merge
            frame.key_start = start or node.start
        elif isinstance(value, dict):
            if frame.is_merge:
                self._merge(frame, value, node)
            else:
                if frame.key in value and frame.key not in frame.merged:
                    self.duplicates.append(Duplicate(frame.key_line, self._field()))
                value[frame.key] = Member(frame.key_line, node, frame.key_start)
                frame.merged.discard(frame.key)
            frame.key = None

    def _key(self, node: Node, line: int) -> str:
        """Converts a key to text, as YAML on its way to JSON: ``on:`` is the key ``true``, ``1:`` is ``1``."""
        match node.value:
            case str() as text:
                return text
            case bool():
                return "true" if node.value else "false"
            case int() | float():
                return str(node.value)
            case _:
                raise TreeError("a key must be a text, not null, a list or a mapping", line)

    def _field(self) -> str:
        field = ""
        for frame in self._stack:
            if isinstance(frame.node.value, list):
                field += f"[{len(frame.node.value)}]"
            else:
                field += "." + (frame.key or '""')
        return field.removeprefix(".")

    def _merge(self, frame: _Frame, value: dict[str, Member], source: Node) -> None:
        """Merges ``<<`` as go-yaml 2: it overrides earlier keys, and the first mapping of a list wins."""
        for node in reversed(source.value) if isinstance(source.value, list) else [source]:
            if not isinstance(node.value, dict):
                raise TreeError("<< must name a mapping or a list of mappings", source.line)
            node.is_shared = True
            frame.merged.update(node.value.keys())
            value.update(node.value)


# An escape in a JSON text; a surrogate pair is matched as one.
_ESCAPE = re.compile(r"\\(?:u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|.)", re.I | re.S)


def _yaml_of_json(text: str) -> str:
    """Rewrites the two parts of JSON that are not YAML: tabs between tokens, and surrogate pairs above U+FFFF."""

    def joined(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0]
        return f"\\U{0x10000 + ((int(match[1], 16) & 0x3FF) << 10 | int(match[2], 16) & 0x3FF):08x}"

    return _ESCAPE.sub(joined, text.replace("\t", " "))


def documents(text: str) -> Iterator[Document]:
    """Yields the documents of a YAML or JSON text in order, without empty ones. Raises ``TreeError``."""
    if text.lstrip().startswith("{"):
        text = _yaml_of_json(text)
    parser = CParser(text)
    builder, events = _Builder(), 0
    try:
        while (event := parser.get_event()) is not None:
            if isinstance(event, (ScalarEvent, CollectionStartEvent, CollectionEndEvent, AliasEvent)):
                builder.handle(event)
            elif isinstance(event, DocumentStartEvent):
                builder = _Builder()
            elif isinstance(event, DocumentEndEvent) and builder.root is not None and builder.root.value is not None:
                yield Document(builder.root, builder.duplicates)
            events += 1
            if events > NODES_MAX:
                raise TreeError(f"more than {NODES_MAX} values", _line(event))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.problem, error.context) if part)
        # The parser reports a file that ends too early one line behind its end.
        last = text.rstrip().count("\n") + 1
        raise TreeError(f"not YAML: {problem}", min(mark.line + 1, last) if mark else 0) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise TreeError(f"not YAML: character #x{error.character:04x} is not allowed", line) from None
    finally:
        parser.dispose()


_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")


def steps(field: str) -> list[str]:
    """The names and indexes of a field path: ``spec.containers[0].name`` has four."""
    return [match[1] if match[1] is not None else match[2] for match in _STEP.finditer(field)]


def members_on_way(root: Node, field: str) -> Iterator[Member]:
    """The members and elements on the way from ``root``, itself the first, to ``field``, or to its nearest parent in
    the file. An element is a member that begins where its value does."""
    yield Member(root.line, root, root.start)
    node = root
    for name in steps(field):
        if isinstance(node.value, dict) and name in node.value:
            member = node.value[name]
        elif isinstance(node.value, list) and name.isdecimal() and int(name) < len(node.value):
            element = node.value[int(name)]
            member = Member(element.line, element, element.start)
        else:
            return
        yield member
        node = member.node


def locate(root: Node, field: str) -> int:
    """The line of ``field``, or of its nearest parent in the file."""
    *_, last = members_on_way(root, field)
    return last.line
