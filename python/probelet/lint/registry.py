"""All rules. No list names them: a rule is a module of ``rules`` with the constant ``RULE``."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from probelet.lint import rules as folder
from probelet.lint.rule import Rule


def rule_modules() -> Iterator[ModuleType]:
    """The module of each rule."""
    root = Path(folder.__path__[0])
    for path in sorted(root.glob("*/p[lo][0-9]*.py")):
        yield import_module(f"{folder.__name__}.{path.parent.name}.{path.stem}")


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its id, in the order of the ids."""
    found: list[Rule] = [module.RULE for module in rule_modules()]
    return {rule.id: rule for rule in sorted(found, key=lambda rule: rule.id)}
