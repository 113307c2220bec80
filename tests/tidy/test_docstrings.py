"""Every public name of Python has a text that ``help`` shows, and docs/python.md says which names are public."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import msgspec
import probelet
import pytest

from tests.support.paths import ROOT

PUBLIC = ("probelet", "probelet.backoff", "probelet.errors", "probelet.testing", "probelet.virtual.cluster")
"""The public modules; each lists its names in ``__all__``. docs/python.md has the same list."""

PAGE = ROOT / "docs/python.md"


def names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public names of a module, and the members of its classes, with their places."""
    for name in module.__all__:
        found = getattr(module, name)
        yield f"{module.__name__}.{name}", found
        if inspect.isclass(found):
            for member, value in vars(found).items():
                is_own = inspect.isroutine(value) or isinstance(value, property | staticmethod | classmethod)
                if not member.startswith("_") and (is_own or inspect.isdatadescriptor(value)):
                    yield f"{module.__name__}.{name}.{member}", value


def undocumented(module: ModuleType) -> list[str]:
    """The places without a text. A field of a struct has its text below it, where ``help`` does not look."""
    return [place for place, found in names(module) if not isinstance(found, str) and not _has_text(place, found)]


def _has_text(place: str, found: Any) -> bool:
    owner, _, member = place.rpartition(".")
    if inspect.ismemberdescriptor(found):
        cls = getattr(import_module(owner.rpartition(".")[0]), owner.rpartition(".")[2])
        return not issubclass(cls, msgspec.Struct) or member in documented_fields(cls)
    if not inspect.isclass(found) and not inspect.isroutine(found) and not inspect.isdatadescriptor(found):
        return True  # A constant or an alias; its page describes it.
    text = inspect.getdoc(found)
    return bool(text) and (not inspect.isclass(found) or "__doc__" in vars(found))


def documented_fields(cls: type) -> set[str]:
    """The fields of a class with a text below them."""
    node = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(node, ast.ClassDef)
    return {
        field.target.id
        for field, after in zip(node.body, node.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
    }


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_text(module: str) -> None:
    found = import_module(module)
    assert found.__doc__
    assert undocumented(found) == []


def test_a_name_without_a_text_is_found() -> None:
    module = ModuleType("probelet.errors")
    made = type("Made", (), {"method": lambda self: None, "_inner": lambda self: None})
    module.__all__, module.Made = ["Made"], made  # type: ignore[attr-defined]
    assert undocumented(module) == ["probelet.errors.Made", "probelet.errors.Made.method"]


def test_the_page_has_every_public_name() -> None:
    page = PAGE.read_text()
    listed = set(re.findall(r"`([\w.]+)`", page))
    for module in PUBLIC:
        assert module in listed
        for name in import_module(module).__all__:
            assert name in listed or f"{module}.{name}" in listed, f"{module}.{name}"


def test_every_public_class_of_the_page_is_in_an_example() -> None:
    examples = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    classes = [name for name in probelet.__all__ if inspect.isclass(getattr(probelet, name))]
    assert [name for name in classes if not re.search(rf"\b{name}\b", examples)] == []


def test_the_package_says_which_modules_are_public() -> None:
    text = probelet.__doc__ or ""
    named = re.findall(r"``(probelet\.[\w.]+)``", text)
    assert sorted(named) == [name for name in PUBLIC if name != "probelet"]
