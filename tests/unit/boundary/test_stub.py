"""The stub of the extension says what the extension is: the same names, parameters, defaults and texts."""

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from probelet import _rust

from tests.support.paths import ROOT

STUB = ast.parse((ROOT / "python/probelet/_rust/__init__.pyi").read_text())

Named = ast.ClassDef | ast.FunctionDef


def named(body: list[ast.stmt]) -> dict[str, Named]:
    return {node.name: node for node in body if isinstance(node, Named)}


def members(cls: ast.ClassDef) -> dict[str, Named]:
    """The members of a class that people use by name."""
    return {name: node for name, node in named(cls.body).items() if not name.startswith("__")}


def pairs() -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.Module, Any]]:
    """Everything that has a text, with its place: from the stub and from the extension."""
    yield "_rust", STUB, _rust
    for name, node in named(STUB.body).items():
        found = getattr(_rust, name)
        yield name, node, found
        if isinstance(node, ast.ClassDef):
            for member, inner in members(node).items():
                yield f"{name}.{member}", inner, getattr(found, member)


def parameters(node: ast.FunctionDef) -> list[tuple[str, str | None]]:
    """Names and defaults. A default that Python cannot evaluate is ``...``, as in the extension."""
    arguments = node.args
    names = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(names) - len(arguments.defaults)) + list(arguments.defaults)
    listed = list(zip(names, defaults, strict=True)) + list(
        zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    )
    return [(name.arg, None if default is None else repr(ast.literal_eval(default))) for name, default in listed]


def signature(found: Any) -> list[tuple[str, str | None]]:
    listed = inspect.signature(found).parameters.values()
    return [(each.name, None if each.default is inspect.Parameter.empty else repr(each.default)) for each in listed]


def test_the_stub_has_the_names_of_the_extension() -> None:
    listed = next(
        node for node in STUB.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert sorted(ast.literal_eval(listed.value)) == sorted(named(STUB.body)) == sorted(set(_rust.__all__))
    for name, node in named(STUB.body).items():
        if isinstance(node, ast.ClassDef):
            found = {member for member in vars(getattr(_rust, name)) if not member.startswith("__")}
            assert set(members(node)) == found, name


def differences(node: ast.ClassDef | ast.FunctionDef | ast.Module, found: Any) -> Iterator[str]:
    """What the stub and the extension say differently about one thing."""
    text = ast.get_docstring(node)
    if not text:
        yield "the stub has no text"
    if inspect.getdoc(found) != text:
        yield f"text: {inspect.getdoc(found)!r} and {text!r}"
    if isinstance(node, ast.ClassDef):
        made = named(node.body).get("__new__")
        if isinstance(made, ast.FunctionDef) and signature(found) != parameters(made)[1:]:
            yield f"parameters: {signature(found)} and {parameters(made)[1:]}"
    elif isinstance(node, ast.FunctionDef) and callable(found) and signature(found) != parameters(node):
        yield f"parameters: {signature(found)} and {parameters(node)}"


def test_the_stub_has_the_texts_and_the_parameters_of_the_extension() -> None:
    compared = list(pairs())
    assert len(compared) > 100, "the walk finds the names"
    assert [f"{place}: {each}" for place, node, found in compared for each in differences(node, found)] == []


@pytest.mark.parametrize(
    "stub", ["def expand(text, variables): 'Another text.'", "def expand(text, names): ...", "def expand(text): ..."]
)
def test_a_difference_is_found(stub: str) -> None:
    node = ast.parse(stub).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert list(differences(node, _rust.expand))
