"""The policy gets what the engine has published as an input: no file of it names the engine or its simulation.

The import contract in pyproject.toml cannot say this, because the policy may import other names of the extension.
"""

import ast
from pathlib import Path

import pytest

from tests.support.paths import ROOT

POLICY = ROOT / "python" / "probelet" / "policy"
FORBIDDEN = {"Engine", "Simulation"}


def identifiers(source: str) -> set[str]:
    """Every name that the code imports, reads, or takes as an attribute; words in comments and texts do not count."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found.add(name)
            case ast.Constant(value=str() as text) if text.isidentifier():
                # A forward reference is written as a string.
                found.add(text)
    return found


@pytest.mark.parametrize("path", sorted(POLICY.rglob("*.py")), ids=lambda path: path.relative_to(POLICY).as_posix())
def test_policy_names_neither_the_engine_nor_the_simulation(path: Path) -> None:
    assert not identifiers(path.read_text()) & FORBIDDEN


@pytest.mark.parametrize(
    "source",
    ["from probelet._rust import Engine", "def f(engine: 'Engine') -> None: ...", "probelet._rust.Simulation()"],
)
def test_every_way_to_name_it_is_found(source: str) -> None:
    assert identifiers(source) & FORBIDDEN
