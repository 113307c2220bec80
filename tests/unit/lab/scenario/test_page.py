"""docs/simulate.md names everything that a scenario file may have."""

import re
from typing import get_args

import msgspec
import pytest
from probelet.lab.scenario.fault import AnyFault
from probelet.lab.scenario.model import Asks, Container, Dependency, Scenario, Traffic

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "simulate.md").read_text()
FAULTS = get_args(AnyFault)


def test_the_faults_of_the_page_are_all_there_are() -> None:
    table = PAGE[PAGE.index("| fault | fields |") : PAGE.index("## The article")]
    rows = re.findall(r"^\| `([a-z-]+)`( ·)? \| (.*?) \|", table, re.MULTILINE)
    assert {name for name, *_ in rows} == {str(found.__struct_config__.tag) for found in FAULTS}
    for name, dot, fields in rows:
        (cls,) = (found for found in FAULTS if found.__struct_config__.tag == name)
        names = {field.encode_name for field in msgspec.structs.fields(cls)} - {"at"}
        assert set(re.findall(r"`(\w+)`", fields)) | ({"lasts"} if dot else set()) == names, name


@pytest.mark.parametrize("cls", [Scenario, Container, Traffic, Dependency, Asks])
def test_each_field_is_on_the_page(cls: type[msgspec.Struct]) -> None:
    names = {field.encode_name for field in msgspec.structs.fields(cls)} - {"apiVersion"}
    fenced = re.findall(r"^```.*?^```", PAGE, re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`[^`\n]+`", re.sub(r"^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE))
    code = set(re.findall(r"\w+", " ".join([*fenced, *inline])))
    assert names - code == set()
