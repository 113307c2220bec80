"""The JSON schema (draft 2020-12) of a scenario file, made from its types: ``probelet simulate --schema``."""

from typing import Any

from probelet.config.schema.document import DRAFT, section_schema
from probelet.lab.scenario.model import API_VERSION, KIND, Scenario


def scenario_schema() -> dict[str, Any]:
    """The schema. It accepts every valid scenario; rules between fields are no part of it."""
    found = section_schema(Scenario())
    found["properties"] |= {"apiVersion": {"const": API_VERSION}, "kind": {"const": KIND}}
    return {"$schema": DRAFT, "title": "A scenario of probelet simulate", "required": ["apiVersion", "kind"], **found}
