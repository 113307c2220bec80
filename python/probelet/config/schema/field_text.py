"""The docstrings of fields, which Python itself does not keep: read from the source of their class."""

import ast
import inspect
import sys
import textwrap
from functools import cache
from typing import Any, is_typeddict

import msgspec


@cache
def field_texts(cls: type[Any]) -> dict[str, str]:
    """The docstring of each field of ``cls``, by its name in Python, as one line with `code` as in Markdown.

    A field without a docstring has no entry. Raises OSError if the source of the class is not there.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(tree, ast.ClassDef)
    own = {
        field.target.id: one_line_of(text.value.value)
        for field, text in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }
    # A TypedDict does not remember its bases.
    names = vars(sys.modules[cls.__module__])
    bases = [names[base.id] for base in tree.bases if isinstance(base, ast.Name) and _has_fields(names.get(base.id))]
    return {name: text for base in bases for name, text in field_texts(base).items()} | own


def _has_fields(base: Any) -> bool:
    return is_typeddict(base) or (isinstance(base, type) and issubclass(base, msgspec.Struct))


def one_line_of(docstring: str) -> str:
    """A docstring's paragraphs as one line."""
    return " ".join(docstring.replace("``", "`").split())
