import json

import pytest

from tests.unit.cli.conftest import Service

SAID = {"retry": "started: app\n", "reset": "reset: app\n"}


@pytest.mark.parametrize("verb", SAID)
async def test_the_output_names_the_containers(service: Service, verb: str) -> None:
    ended = await service.ask(verb, "crasher")
    assert (ended.code, ended.out, ended.err) == (0, SAID[verb], "")
    assert service.view.commands == [(verb, "crasher", None)]


@pytest.mark.parametrize("verb", SAID)
async def test_nothing_to_do_exits_with_1(service: Service, verb: str) -> None:
    ended = await service.ask(verb, "crasher", "calm", "-o", "json")
    assert (ended.code, ended.err) == (1, "")
    assert json.loads(ended.out) == {"schema": f"probelet-{verb}/1", "pod": "crasher", "containers": []}
    assert service.view.commands == [(verb, "crasher", "calm")]


@pytest.mark.parametrize("verb", SAID)
async def test_an_unknown_pod_is_bad_input(service: Service, verb: str) -> None:
    ended = await service.ask(verb, "nope")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[0] == f'probelet {verb}: there is no pod "nope"'
