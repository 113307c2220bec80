"""Requests of a connection, and the errors that they end with."""

import asyncio

import pytest
from probelet.kube import connection as module
from probelet.kube.connection import Connection
from probelet.kube.error import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Garbage,
    Invalid,
    NotFound,
    ServerError,
    TooManyRequests,
    Unreachable,
)
from probelet.kube.kinds import CONFIG_MAPS, PODS

from tests.support.kube_api import Answer, Drop, KubeApi


def pod(name: str, **spec: object) -> dict[str, object]:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [], **spec}}


async def test_a_created_object_is_read_replaced_and_deleted(connection: Connection) -> None:
    made = await connection.create(PODS, pod("web"))
    assert made["metadata"]["uid"]
    assert await connection.get(PODS, "web", "default") == made
    made["spec"]["nodeName"] = "a"
    replaced = await connection.replace(PODS, made)
    assert replaced["spec"]["nodeName"] == "a"
    await connection.delete(PODS, "web", "default", uid=made["metadata"]["uid"], grace_seconds=0)
    with pytest.raises(NotFound, match='get pods default/web: NotFound: pods "web" not found'):
        await connection.get(PODS, "web", "default")


async def test_a_list_comes_in_pages_and_selected(connection: Connection, api: KubeApi) -> None:
    for number in range(7):
        api.put(PODS, pod(f"p{number}", nodeName="a" if number % 2 else "b"))
    listed = await connection.list_as(PODS, lambda found: found["metadata"]["name"], limit=3)
    assert listed.items == [f"p{number}" for number in range(7)]
    assert api.seen("list") == 3
    on_a = await connection.list(PODS, fields="spec.nodeName=a")
    assert [found["metadata"]["name"] for found in on_a.items] == ["p1", "p3", "p5"]
    assert on_a.items[0]["kind"] == "Pod"


async def test_conflicts_are_told_apart(connection: Connection) -> None:
    made = await connection.create(PODS, pod("web"))
    with pytest.raises(AlreadyExists):
        await connection.create(PODS, pod("web"))
    await connection.patch(PODS, "web", "default", {"metadata": {"labels": {"a": "b"}}}, type="merge")
    with pytest.raises(Conflict, match="update pods default/web: Conflict: the object has been modified"):
        await connection.replace(PODS, made)
    with pytest.raises(Conflict):
        await connection.delete(PODS, "web", "default", uid="another")


async def test_apply_owns_one_condition_and_refuses_another_uid(connection: Connection, api: KubeApi) -> None:
    made = api.put(PODS, pod("web") | {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    ready = {"type": "probelet.dev/ready", "status": "True"}
    identity = {"name": "web", "namespace": "default", "uid": made["metadata"]["uid"]}
    applied = {"metadata": identity, "status": {"conditions": [ready]}}
    after = await connection.apply(PODS, applied, manager="probelet-agent", subresource="status")
    assert after["status"]["conditions"] == [{"type": "Ready", "status": "True"}, ready]
    applied["metadata"] = identity | {"uid": "another"}
    with pytest.raises(Conflict, match="apply pods/status default/web"):
        await connection.apply(PODS, applied, manager="probelet-agent", subresource="status")


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        (
            Answer(403, 'User "x" cannot get pods'),
            Forbidden,
            'get pods default/web: Forbidden: User "x" cannot get pods',
        ),
        (Answer(422, "spec: Required value"), Invalid, "get pods default/web: Invalid: spec: Required value"),
        (Answer(500, "etcd"), ServerError, "get pods default/web: InternalError: etcd"),
        (Answer(502, body=b"<html>\nbad gateway"), ServerError, "InternalError: <html> bad gateway"),
        (Answer(200, body=b"[1"), Garbage, "get pods default/web: Garbage: not an object"),
        (Drop(), Unreachable, "get pods default/web: Unreachable: "),
    ],
)
async def test_an_error_says_what_was_asked_for(
    connection: Connection, api: KubeApi, fault: Answer | Drop, error: type[Exception], text: str
) -> None:
    api.faults.add(fault)
    with pytest.raises(error) as raised:
        await connection.get(PODS, "web", "default")
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


async def test_a_limited_client_learns_for_how_long(connection: Connection, api: KubeApi) -> None:
    api.faults.add(Answer(429, headers={"Retry-After": "7"}))
    with pytest.raises(TooManyRequests) as raised:
        await connection.list(PODS)
    assert raised.value.retry_after_ns == 7_000_000_000


async def test_a_server_that_is_gone_is_unreachable(connection: Connection, api: KubeApi) -> None:
    await api.refuse()
    with pytest.raises(Unreachable, match="list pods: Unreachable: "):
        await connection.list(PODS)
    await api.accept()
    assert (await connection.list(PODS)).items == []


async def test_many_requests_share_few_connections(connection: Connection, api: KubeApi) -> None:
    await asyncio.gather(
        *(connection.create(CONFIG_MAPS, {"metadata": {"name": f"c{n}", "namespace": "a"}}) for n in range(100))
    )
    assert len(api.all(CONFIG_MAPS)) == 100
    assert 1 < api.connections <= 32


async def test_a_list_without_an_end_is_cut_off(
    connection: Connection, api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGES_MAX", 3)
    for number in range(8):
        api.put(PODS, pod(f"p{number}"))
    with pytest.raises(Garbage, match="the list has more than 3 pages"):
        await connection.list_as(PODS, lambda found: found, limit=2)


async def test_a_strange_name_reaches_no_other_resource(connection: Connection, api: KubeApi) -> None:
    api.put(CONFIG_MAPS, {"metadata": {"name": "b", "namespace": "a"}})
    with pytest.raises(NotFound):
        await connection.get(PODS, "../configmaps/b", "a")
