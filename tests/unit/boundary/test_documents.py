"""The engine knows every field that probelet's own model of a pod can write."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import inspect as types
from probelet._rust import Engine, Simulation
from probelet.errors import InvalidInputError
from probelet.spec import Pod

from tests.unit.boundary.documents import UID, facts, pod

WORDS = {"action": "Restart", "operator": "In", "restartPolicy": "Always", "uid": UID}
"""Texts that the engine reads as words."""


def sample(info: types.Type, name: str = "") -> Any:
    """A value of a type, with every field of every object inside."""
    match info:
        case types.StructType():
            return {field.encode_name: sample(field.type, field.encode_name) for field in info.fields}
        case types.ListType():
            return [sample(info.item_type, name)]
        case types.UnionType():
            return sample(next(each for each in info.types if not isinstance(each, types.NoneType)), name)
        case types.StrType():
            return WORDS.get(name, "")
        case types.IntType():
            return 1
        case types.BoolType():
            return True
        case _:
            return {}


def test_a_pod_with_every_field_of_the_model_is_taken() -> None:
    document = sample(types.type_info(Pod))
    assert msgspec.convert(document, Pod) is not None
    assert len(document["spec"]["containers"][0]) > 20, "the sample has the fields"
    Simulation().define_pod(json.dumps(document).encode())


def test_a_status_that_the_engine_wrote_is_taken_as_an_argument() -> None:
    simulation = Simulation()
    simulation.define_pod(pod())
    status = simulation.sync_pod(UID, facts())
    simulation.set_pod_status(UID, status)
    assert json.loads(simulation.update_pod_status(UID, status)) == json.loads(status)


def test_the_live_engine_refuses_an_unknown_key_and_goes_on(engine: Engine) -> None:
    for call in (engine.add_pod, engine.define_pod):
        with pytest.raises(InvalidInputError, match="livenesProbe: unknown field"):
            call(pod().replace(b"livenessProbe", b"livenesProbe"))
    engine.define_pod(pod())
    engine.sync_pod(UID, facts())
