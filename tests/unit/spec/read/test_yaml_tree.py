"""YAML with line numbers, parsed as the kubelet parses it, and the limits for hostile files."""

from typing import Any

import pytest
from probelet.spec.read import tree
from probelet.spec.read.tree import ALIAS_NODES_MAX, DEPTH_MAX, TreeError, documents, locate, resolve


def plain(text: str) -> list[Any]:
    return [document.root.plain() for document in documents(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("y", True),
        ("On", True),
        ("off", False),
        ("N", False),
        ("true", True),
        ("tRue", "tRue"),
        ("", None),
        ("~", None),
        ("null", None),
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("0b11", 3),
        ("-0b11", -3),
        ("08", 8.0),
        ("1_000", 1000),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e400", "1e400"),
        ("1:30", "1:30"),
        ("2020-01-01", "2020-01-01"),
        ("+", "+"),
        ("-", "-"),
        ("._1", "._1"),
        ("9" * 65, "9" * 65),
    ],
)
def test_scalars_resolve_as_for_the_kubelet(text: str, value: Any) -> None:
    found = resolve(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 'yes'", {"a": "yes"}),
        ("a: |\n  x\n", {"a": "x\n"}),
        ("a: !!str 1", {"a": "1"}),
        ("a: !!int '3'", {"a": 3}),
        ("on: 1\n2: b", {"true": 1, "2": "b"}),
        ('{"a":\t"\\ud83d\\ude00\\/\\\\ud83d"}', {"a": "\U0001f600/\\ud83d"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("x: &x {b: 1, c: 2}\nz: {<<: *x, c: 3}", {"x": {"b": 1, "c": 2}, "z": {"b": 1, "c": 3}}),
        ("z: {c: 3, <<: {c: 2}}", {"z": {"c": 2}}),
        ("z: {<<: [{a: 1}, {a: 2, b: 3}]}", {"z": {"a": 1, "b": 3}}),
        ("z: {'<<': 1}", {"z": {"<<": 1}}),
    ],
)
def test_collections_keys_and_merges(text: str, value: Any) -> None:
    assert plain(text) == [value]


def test_several_documents_and_none() -> None:
    assert plain("") == []
    assert plain("# nothing\n---\n---\na: 1\n---\n- b\n") == [{"a": 1}, ["b"]]


def test_a_duplicate_key_is_reported_and_its_last_value_counts() -> None:
    [document] = documents("a:\n- b: 1\n  c: 2\n  b: 3\n")
    assert document.root.plain() == {"a": [{"b": 3, "c": 2}]}
    assert document.duplicates == [(4, "a[0].b")]


def test_a_key_written_beside_a_merge_is_no_duplicate() -> None:
    [document] = documents("<<: {a: 1}\na: 2\n")
    assert document.root.plain() == {"a": 2}
    assert document.duplicates == []


def test_locate_finds_a_field_or_its_nearest_parent() -> None:
    [document] = documents("a:\n  b:\n  - x: 1\n  - y: 2\n    z.w: 3\n")
    lines = {field: locate(document.root, field) for field in ("a", "a.b", "a.b[1].y", "a.b[1].q", "a.b[9]", "n.m")}
    assert lines == {"a": 1, "a.b": 2, "a.b[1].y": 4, "a.b[1].q": 4, "a.b[9]": 2, "n.m": 1}
    assert locate(document.root, "a.b[1][z.w]") == 5


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [1,\n\n", 2, "not YAML: did not find expected node content, while parsing a flow node"),
        ("a: 1\nb: c: d", 2, "not YAML: mapping values are not allowed in this context"),
        ("a: 1\nb: \x00", 2, "not YAML: character #x0000 is not allowed"),
        ("a: 1\nb: !foo 1", 2, "tag !foo is not supported"),
        ("a: !!set {}", 1, "tag tag:yaml.org,2002:set is not supported"),
        ("a: .inf", 1, ".inf is no number of JSON"),
        ("a: *x", 1, "alias *x has no anchor before it"),
        ("a: 1\nb: &x [*x]", 2, "alias *x refers to a node that contains it"),
        ("? [a]\n: b", 1, "a key must be a text, not a list or a mapping"),
        ("~: b", 1, "a key must be a text, not null, a list or a mapping"),
        ("a: {<<: 5}", 1, "<< must name a mapping or a list of mappings"),
    ],
)
def test_unusable_yaml_is_reported_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(TreeError) as caught:
        list(documents(text))
    assert (caught.value.line, str(caught.value)) == (line, message)


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 30):
        bomb += f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n"
    with pytest.raises(TreeError, match=f"aliases expand to more than {ALIAS_NODES_MAX} values"):
        list(documents(bomb))


def test_a_bomb_of_merges_is_refused() -> None:
    wide = ", ".join(f"k{index}: 1" for index in range(1000))
    with pytest.raises(TreeError, match="aliases expand"):
        list(documents(f"a: &a {{{wide}}}\nb:\n" + "- <<: *a\n" * 1000))


@pytest.mark.parametrize("link", ["[*a{}]", "{{k: *a{}}}", "[{{k: *a{}}}]"])
def test_aliases_that_nest_too_deep_are_refused(link: str) -> None:
    def nest(levels: int) -> str:
        return "- &a0 x\n" + "".join(f"- &a{n + 1} {link.format(n)}\n" for n in range(levels))

    assert list(documents(nest(40)))
    with pytest.raises(TreeError, match=f"aliases nest deeper than {DEPTH_MAX} levels"):
        list(documents(nest(DEPTH_MAX)))


@pytest.mark.parametrize("opening", ["[", "- ", "{a: ", "? "])
def test_deep_nesting_is_refused(opening: str) -> None:
    with pytest.raises(TreeError, match=rf"nested deeper than {DEPTH_MAX} levels|a key must be a text"):
        list(documents(opening * 1_000_000))


def test_a_file_with_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "NODES_MAX", 1000)
    with pytest.raises(TreeError, match="more than 1000 values") as caught:
        list(documents("- a\n" * 2000))
    assert 990 < caught.value.line < 1001
