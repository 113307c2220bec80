"""Prose as a test: idioms that make a reader guess who acts, or what a word stands for. The rest of the rule, subject,
active verb, the parameter's name, then why, is for review."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.tidy.test_tidy import name, text_of, tracked

FOLDERS = ("benches", "conformance", "docs", "examples", "fuzz", "python", "rust", "tests", "tools")
BE = r"\b(?:is|are|was|were|be|been|being)"

# An idiom, and what to write in its place. "A name is being looked up" passes: so a resolver names its work in flight.
IDIOMS = {
    rf"{BE} told\b": "say who tells: 'the engine tells the mailbox', or name the call",
    rf"{BE} said\b": "say which part says it: 'the event says', 'the log has a line'",
    r"\b(?:is|are|was|were|be|been) looked (?:at|up|for|through)\b": "say who looks: 'a sync reads the status'",
    r"\bwho(?:m)?ever\b": "code is no person: 'the caller', 'the task that ...'",
    r"\b(?:of|to|by|from) who\b": "code is no person: 'the caller', 'the task that ...'",
    r"\bwhat of\b": "a pronoun without a noun: name the thing",
    r"\bwhat (?:came|comes|is known|was known) of\b": "'the outcome', 'the entries of': name the thing",
    rf"{BE} (?:spoken|heard|known) of\b": "say which part has it: 'the log last had'",
    r"\b(?:included|due) at that moment included\b|\bwhat is due at that moment\b": "'everything due at that moment'",
    r"\bhears (?:of|that|what|each|a)\b": "code does not hear: 'gets', 'the caller passes it'",
    r"\bthat which\b": "a pronoun without a noun: name the thing",
    r"\bthose that\b": "a pronoun without a noun: 'attempts that', 'containers that'",
    r"\bgone on with\b": "'continues'",
    r"\bfor neither\b": "say what happens when both are absent",
    r"\bnone; else\b": "a sentence: 'None if ..., otherwise ...'",
}


@cache
def needed(pattern: str) -> tuple[str, ...]:
    """Words that every text with an idiom has: to find one of them is quicker than to try a pattern everywhere."""
    outside = re.sub(r"\(\?:[^()]*\)\??|\\b", " ", pattern)
    return () if "|" in outside else tuple(re.findall(r"[a-z]+", outside))


def findings(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, idiom and advice. A phrase may run over the end of a line and the comment mark of the next."""
    lower = text.lower()
    for pattern, advice in IDIOMS.items():
        if not all(word in lower for word in needed(pattern)):
            continue
        across = pattern.replace(" ", r"(?:\s+(?:(?://[/!]?|#)\s)?)")
        for match in re.finditer(across, text, re.IGNORECASE):
            yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), advice


def pages() -> list[Path]:
    files = [path for path in tracked((".py", ".pyi", ".rs", ".md")) if path != Path(__file__)]
    return [path for path in files if path.relative_to(ROOT).parts[0] in FOLDERS]


def test_no_text_has_a_banned_idiom() -> None:
    found = [
        f"{name(path)}:{line}: {idiom!r}: {advice}"
        for path in pages()
        for line, idiom, advice in findings(text_of(path))
    ]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "Python is told of it",
        "a form of what came of it",
        "to who binds",
        "// who is\n    // told",
        "the pod is looked at",
        "Whoever asks",
        "of those that wait",
    ],
)
def test_an_idiom_is_found(text: str) -> None:
    assert [line for line, _, _ in findings(text)] == [1]


def test_a_plain_sentence_passes() -> None:
    assert list(findings("The engine tells Python. A sync reads the status of containers that have exited.")) == []


BEGINNING = re.compile(r'^ *"""((?:What|As|Who)\b.*)', re.MULTILINE)
"""A docstring that begins without a thing or an act. The extension's stub is exempt, because its texts are those of
comments in Rust."""


def test_a_docstring_begins_with_a_noun_or_a_verb() -> None:
    files = [path for path in tracked((".py",)) if path.relative_to(ROOT).parts[0] == "python"]
    found = [
        f"{name(path)}: {match[1]}: name the thing or the act"
        for path in files
        for match in BEGINNING.finditer(text_of(path))
    ]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("text", ['"""What a rule sees."""', '    """As ``stop``, but later."""', '"""Who leads."""'])
def test_a_docstring_without_a_noun_is_found(text: str) -> None:
    assert BEGINNING.search(text)


def test_a_docstring_with_a_noun_or_a_verb_passes() -> None:
    assert not BEGINNING.search('"""Returns the probes that the mapping wants for ``pod``."""')
