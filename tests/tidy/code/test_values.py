"""Frozen values of what a service imports are msgspec structs, because dataclasses make its start dearer."""

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator

import msgspec
import probelet
import pytest

from tests.support.paths import ROOT

PACKAGE = ROOT / "python" / "probelet"
OF_NO_SERVICE = {"cli", "lab", "lint"}
FROZEN = re.compile(r"@dataclass\([^)]*frozen=True")


def test_a_frozen_value_is_a_struct_unless_a_field_must_not_be_printed() -> None:
    modules = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in OF_NO_SERVICE]
    found = [path for path in modules if FROZEN.search(text := path.read_text()) and "repr=False" not in text]
    assert [path.relative_to(PACKAGE).as_posix() for path in found] == []


def structs(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for found in base.__subclasses__():
        yield found
        yield from structs(found)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_default_of_a_struct_is_a_field_of_dataclasses() -> None:
    """A type checker takes ``dataclasses.field`` in a struct for a default factory; msgspec takes it for the value."""
    for module in pkgutil.walk_packages(probelet.__path__, "probelet."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = list(structs(msgspec.Struct))
    assert len(found) > 300
    wrong = [each for each in found if any(isinstance(value, dataclasses.Field) for value in each.__struct_defaults__)]
    assert wrong == []
