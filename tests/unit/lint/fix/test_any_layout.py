"""Random objects in random layouts: the changed text is the old object with the change, for another reader too."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given
from probelet.lint.change import Change, Remove, Replace, Set
from probelet.lint.fix.plain import changed

from tests.unit.lint.fix.manifests import after

# YAML 1.1 reads a bare Y as a boolean, which another reader may not.
NAMES = st.text("abcdABC", min_size=1, max_size=6)
SCALARS = st.one_of(
    st.integers(-5, 70_000),
    st.booleans(),
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=12),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), min_size=1, max_size=3)


def in_blocks(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False)


def with_comments(value: Any) -> str:
    lines = in_blocks(value).splitlines()
    if any(not line.rstrip().endswith(":") and ":" not in line for line in lines):
        return in_blocks(value)  # A text over several lines has no place for a comment.
    return "".join(f"{line} # {number}\n" if line.endswith(":") else f"{line}\n" for number, line in enumerate(lines))


LAYOUTS = (
    in_blocks,
    with_comments,
    lambda value: yaml.safe_dump(value, default_flow_style=True, width=40),
    json.dumps,
    lambda value: json.dumps(value, indent=2),
    lambda value: in_blocks(value).replace("\n", "\r\n"),
)


@st.composite
def changes(draw: st.DrawFn, value: dict[str, dict[str, Any]]) -> Change:
    owner = draw(st.sampled_from(sorted(value)))
    name = draw(st.one_of(st.sampled_from(sorted(value[owner])), NAMES))
    path = f"{owner}.{name}"
    kind = draw(st.sampled_from([Set, Remove, Replace]))
    if kind is Remove:
        return Remove(path)
    new = draw(st.one_of(SCALARS, st.dictionaries(NAMES, SCALARS, min_size=1, max_size=2)))
    return Set(path, new) if kind is Set else Replace(path, draw(NAMES), new)


@pytest.mark.hypothesis
@given(st.data())
def test_the_changed_text_is_the_old_object_with_the_change(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    change, layout = data.draw(changes(value)), data.draw(st.sampled_from(LAYOUTS))
    text = layout(value)
    found = after(text, change)
    if not found.done:
        assert found.text == text
        return
    assert yaml.safe_load(found.text) == changed(value, "", (change,))
    if "#" not in json.dumps(value) and "#" not in str(change):
        assert found.text.count("#") == text.count("#")


@pytest.mark.hypothesis
@given(st.data())
def test_a_number_is_changed_or_added_in_every_layout(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    layout, owner = data.draw(st.sampled_from(LAYOUTS)), data.draw(st.sampled_from(sorted(value)))
    value[owner]["periodSeconds"] = 10
    for change in (Set(f"{owner}.periodSeconds", 30), Set(f"{owner}.timeoutSeconds", 5)):
        found = after(layout(value), change)
        assert len(found.done) == 1, found.text
        assert yaml.safe_load(found.text) == changed(value, "", (change,))
