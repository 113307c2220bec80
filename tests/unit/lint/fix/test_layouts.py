"""A fix changes what it must and nothing else, in every layout that people write."""

import pytest
from probelet.lint.change import Change, Remove, Replace, Set

from tests.unit.lint.fix.manifests import after, finding, fixed

BLOCK = """\
# A probe.
livenessProbe: # of the app
  exec:
    command: [cat, /ok]
  periodSeconds: 10 # slow

  timeoutSeconds: 3

# The end.
"""
KYAML = """\
---
{
  livenessProbe: {
    exec: {command: ["cat", "/ok"]},
    periodSeconds: 10, # slow
    timeoutSeconds: 3,
  },
}
"""
JSON = """\
{
  "livenessProbe": {
    "exec": {"command": ["cat", "/ok"]},
    "periodSeconds": 10
  }
}
"""
GRPC = Replace("livenessProbe.exec", "grpc", {"port": 50051, "service": "shop.v1"})


@pytest.mark.parametrize(
    ("text", "change", "old", "new"),
    [
        (BLOCK, Set("livenessProbe.periodSeconds", 30), "periodSeconds: 10 # slow", "periodSeconds: 30 # slow"),
        (
            BLOCK,
            Set("livenessProbe.failureThreshold", 6),
            "  timeoutSeconds: 3\n",
            "  timeoutSeconds: 3\n  failureThreshold: 6\n",
        ),
        (BLOCK, Remove("livenessProbe.timeoutSeconds"), "  timeoutSeconds: 3\n", ""),
        (
            BLOCK,
            GRPC,
            "exec:\n    command: [cat, /ok]",
            "grpc:\n    port: 50051\n    service: shop.v1",
        ),
        (KYAML, Set("livenessProbe.periodSeconds", 30), "periodSeconds: 10,", "periodSeconds: 30,"),
        (
            KYAML,
            Set("livenessProbe.failureThreshold", 6),
            "timeoutSeconds: 3,\n",
            "timeoutSeconds: 3,\n    failureThreshold: 6,\n",
        ),
        (KYAML, GRPC, 'exec: {command: ["cat", "/ok"]}', "grpc: {port: 50051, service: shop.v1}"),
        (
            JSON,
            Set("livenessProbe.failureThreshold", 6),
            '"periodSeconds": 10\n',
            '"periodSeconds": 10,\n    "failureThreshold": 6\n',
        ),
        (JSON, GRPC, '"exec": {"command": ["cat", "/ok"]}', '"grpc": {"port": 50051, "service": "shop.v1"}'),
        (JSON, Remove("livenessProbe.periodSeconds"), ',\n    "periodSeconds": 10', ""),
        ("p: {a: 1}\n", Set("p.b", "on"), "{a: 1}", '{a: 1, b: "on"}'),
        ("p: {a: 1,}\n", Set("p.b", 2), "{a: 1,}", "{a: 1, b: 2}"),
        ("- a: 1 # one\n  b: 2\n- c: 3", Set("[0].d", 4), "  b: 2\n", "  b: 2\n  d: 4\n"),
        ("- c: 3", Set("[0].d", 4), "- c: 3", "- c: 3\n  d: 4"),
        ("- a: 1\n  b: 2\n", Remove("[0].a"), "a: 1\n  ", ""),
        ("a: 1\r\nb:\r\n  c: 2\r\nd: 3\r\n", Set("b.e", 4), "c: 2\r\n", "c: 2\r\n  e: 4\r\n"),
        ("a:\n  b: |\n    x # no comment\n    y\nc: 1\n", Set("a.d", 2), "    y\n", "    y\n  d: 2\n"),
        ("a: ü # ä\nb: {c: 1}\n", Set("b.c", 2), "c: 1", "c: 2"),
        ("a: 1", Set("a", 2), "a: 1", "a: 2"),
    ],
)
def test_only_the_field_changes(text: str, change: Change, old: str, new: str) -> None:
    assert text.count(old) == 1
    found = after(text, change)
    assert found.text == text.replace(old, new)
    assert len(found.done) == 1


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a: &p {b: 1}\nc: *p\n", Set("a.b", 2)),
        ("a: &p {b: 1}\nc: *p\n", Set("c.b", 2)),
        ("a: &p {b: 1}\nc:\n  <<: *p\n  d: 1\n", Set("c.b", 2)),
        ("a:\n  exec:\n    # why\n    command: [x]\n  b: 1\n", Remove("a.exec")),
        ("a:\n  b: 1\n", Remove("a.b")),
        ("a:\n  b:\n", Set("a.b", 2)),
        ("a: {}\n", Set("a.b", 2)),
        ("a: 1\n", Set("b.c", 2)),
        ("a: [1]\n", Set("a.b", 2)),
        ("a: {b: 1}\n", Remove("a.c")),
        ('{"a": {"b": "\\ud83d\\ude00", "c": 1}}', Set("a.c", 2)),
    ],
    ids=str,
)
def test_a_text_where_more_would_change_stays(text: str, change: Change) -> None:
    found = after(text, change)
    assert (found.text, found.done) == (text, [])
    assert len(found.left) == 1


def test_a_fix_of_several_changes_is_carried_out_as_a_whole_or_not_at_all() -> None:
    text = "a: {b: 1, c: 2}\nd: {e: 1}\n"
    assert after(text, Set("a.b", 2), Remove("d.e")).text == text
    assert after(text, Set("a.b", 2), Remove("a.c")).text == "a: {b: 2}\nd: {e: 1}\n"


def test_each_fix_finds_the_places_that_the_one_before_has_moved() -> None:
    text = "---\na: {b: 1}\n---\nitems:\n- a: {b: 1}\n- a: {b: 1}\n"
    findings = [
        finding(Set("a.long", "a text that moves everything")),
        finding(Set("a.b", 22), document=1, prefix="items[1]"),
        finding(Set("a.b", 11), document=1, prefix="items[0]"),
    ]
    found = fixed(text, findings)
    assert len(found.done) == 3
    assert found.text.endswith("items:\n- a: {b: 11}\n- a: {b: 22}\n")
