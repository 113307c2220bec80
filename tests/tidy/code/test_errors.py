"""Every exception class of probelet is a ``ProbeletError``, so that a caller can catch all of them in one place."""

import ast
import builtins
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT

BASE = "ProbeletError"

BUILTIN = {
    name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, BaseException)
}


def exceptions(code: str) -> Iterator[tuple[str, set[str]]]:
    """Each class that derives from an exception of Python's, with the names of its bases.

    An exception class begins with one of those, or with another class of probelet, which is found itself.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            if bases & {*BUILTIN, BASE}:
                yield node.name, bases


def test_every_exception_of_probelet_has_the_common_base() -> None:
    packages = (ROOT / "python" / "probelet", ROOT / "conformance")
    sources = sorted(path for package in packages for path in package.rglob("*.py"))
    found = {(path.stem, name): bases for path in sources for name, bases in exceptions(path.read_text())}
    assert len(found) > 20, "the walk finds the classes"
    assert [place for place, bases in found.items() if BASE not in bases] == [("errors", BASE)]


@pytest.mark.parametrize(
    ("code", "right"),
    [
        ("class OwnError(Exception): ...", False),
        ("def f():\n    class OwnError(ValueError): ...", False),
        ("class OwnError(ProbeletError, ValueError): ...", True),
    ],
)
def test_the_scanner_sees_an_exception(code: str, right: bool) -> None:
    assert [BASE in bases for _, bases in exceptions(code)] == [right]
