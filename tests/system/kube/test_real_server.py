"""What the unit tests believe of an API server, asked of a real one."""

import asyncio
import signal
from typing import Any

import pytest
from probelet.kube.clock import LoopClock
from probelet.kube.connection import Connection
from probelet.kube.error import AlreadyExists, Conflict, Expired, Forbidden, Invalid, NotFound
from probelet.kube.events.writer import EventWriter, Regarding
from probelet.kube.kinds import CONFIG_MAPS, EVENTS, LEASES, NODES, PODS, SECRETS
from probelet.kube.lease.heartbeat import Heartbeat
from probelet.kube.lease.leader import LeaderElection
from probelet.kube.reflector import Reflector

from tests.support.patience import PATIENCE_SECONDS, until
from tests.system.kube.api_server import NODE, ApiServer

pytestmark = pytest.mark.e2e

GATE = "probelet.dev/ready"


def pod(namespace: str, name: str, node: str = "node-a") -> dict[str, Any]:
    container = {"name": "app", "image": "app"}
    spec = {"nodeName": node, "containers": [container], "readinessGates": [{"conditionType": GATE}]}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def text(namespace: str, name: str, value: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "data": {"v": value}}


async def test_the_condition_of_one_manager_leaves_the_others_alone(connection: Connection, namespace: str) -> None:
    made = await connection.create(PODS, pod(namespace, "web"))
    ready = {"type": "Ready", "status": "False"}
    await connection.patch(
        PODS, "web", namespace, {"status": {"conditions": [ready]}}, type="strategic", subresource="status"
    )
    identity = {"name": "web", "namespace": namespace, "uid": made["metadata"]["uid"]}

    def applied(status: str, **more: object) -> dict[str, Any]:
        condition = {"type": GATE, "status": status, "lastTransitionTime": "2026-11-23T00:00:00Z"}
        return {"metadata": identity | more, "status": {"conditions": [condition]}}

    for status in ("False", "True"):
        after = await connection.apply(PODS, applied(status), manager="probelet-agent", subresource="status")
        assert {found["type"]: found["status"] for found in after["status"]["conditions"]} == {
            "Ready": "False",
            GATE: status,
        }
    unchanged = await connection.apply(PODS, applied("True"), manager="probelet-agent", subresource="status")
    assert unchanged["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
    with pytest.raises(Conflict):
        await connection.apply(PODS, applied("True", uid="another"), manager="probelet-agent", subresource="status")
    await connection.delete(PODS, "web", namespace, uid=made["metadata"]["uid"], grace_seconds=0)
    with pytest.raises((NotFound, Conflict)):
        await connection.apply(PODS, applied("True"), manager="probelet-agent", subresource="status")


async def test_errors_are_those_of_the_test_double(connection: Connection, namespace: str, server: ApiServer) -> None:
    made = await connection.create(CONFIG_MAPS, text(namespace, "a", "1"))
    with pytest.raises(AlreadyExists):
        await connection.create(CONFIG_MAPS, text(namespace, "a", "1"))
    with pytest.raises(NotFound, match=f'get configmaps {namespace}/b: NotFound: configmaps "b" not found'):
        await connection.get(CONFIG_MAPS, "b", namespace)
    await connection.replace(CONFIG_MAPS, made | {"data": {"v": "2"}})
    with pytest.raises(Conflict):
        await connection.replace(CONFIG_MAPS, made | {"data": {"v": "3"}})
    with pytest.raises(Conflict):
        await connection.delete(CONFIG_MAPS, "a", namespace, uid="another")
    with pytest.raises(Invalid):
        await connection.create(PODS, pod(namespace, "web") | {"spec": {}})
    with pytest.raises(Invalid):
        await connection.list(PODS, fields="spec.what=x")
    async with Connection.from_kubeconfig(server.kubeconfig(NODE)) as node:
        with pytest.raises(Forbidden, match='list secrets: Forbidden: secrets is forbidden: User "system:node:node-a"'):
            await node.list(SECRETS)


async def test_a_list_in_pages_is_one_version(connection: Connection, namespace: str) -> None:
    for number in range(7):
        await connection.create(CONFIG_MAPS, text(namespace, f"c{number}", "1"))
    listed = await connection.list_as(CONFIG_MAPS, lambda found: found["metadata"]["name"], namespace, limit=3)
    assert [name for name in listed.items if name != "kube-root-ca.crt"] == [f"c{number}" for number in range(7)]
    assert listed.resource_version


async def test_a_mirror_follows_its_node_and_survives_the_end_of_the_server(
    connection: Connection, namespace: str, server: ApiServer
) -> None:
    changes: list[tuple[str | None, str | None]] = []
    reflector = Reflector(
        connection,
        PODS,
        lambda found: str(found["metadata"]["name"]),
        clock=LoopClock(),
        on_change=lambda before, now: changes.append((before, now)),
        fields="spec.nodeName=node-a",
        namespace=namespace,
    )
    running = asyncio.create_task(reflector.run())
    await asyncio.wait_for(reflector.synced.wait(), PATIENCE_SECONDS)
    await connection.create(PODS, pod(namespace, "here"))
    await connection.create(PODS, pod(namespace, "there", "node-b"))
    await until(lambda: [name for _, name in reflector.items] == ["here"])
    server.server.stop(signal.SIGKILL)
    await until(lambda: not reflector.connected)
    server.start_server()
    await connection.create(PODS, pod(namespace, "later"))
    await connection.delete(PODS, "here", namespace, grace_seconds=0)
    await until(lambda: [name for _, name in reflector.items] == ["later"])
    assert changes[0] == (None, "here")
    assert sorted(map(str, changes[-2:])) == sorted(map(str, [("here", None), (None, "later")]))
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()


async def test_a_version_from_the_future_is_watched_in_silence(connection: Connection, namespace: str) -> None:
    """So a mirror that is newer than its server has to ask for the server's version."""
    made = await connection.create(CONFIG_MAPS, text(namespace, "a", "0"))
    future = str(int(made["metadata"]["resourceVersion"]) + 1_000_000)
    async with connection.watch(CONFIG_MAPS, namespace, resource_version=future, timeout_seconds=4) as events:
        await connection.create(CONFIG_MAPS, text(namespace, "b", "0"))
        assert [event.type async for event in events] == []


async def test_an_old_version_is_expired_and_a_bookmark_comes(connection: Connection, namespace: str) -> None:
    await connection.create(CONFIG_MAPS, text(namespace, "a", "0"))

    async def watched(version: str, seconds: int) -> list[str]:
        found = []
        async with connection.watch(
            CONFIG_MAPS, namespace, resource_version=version, timeout_seconds=seconds
        ) as events:
            async for event in events:
                found.append(event.type)
        return found

    newest = (await connection.list(CONFIG_MAPS, namespace)).resource_version
    # A quiet watch has no bookmark; one that missed changes elsewhere gets some from two seconds before its time on. On
    # a busy machine a change takes seconds.
    quiet, moved = asyncio.create_task(watched(newest, 4)), asyncio.create_task(watched(newest, 10))
    await quiet
    await connection.create(CONFIG_MAPS, text("default", namespace, "0"))
    assert {*await moved} == {"BOOKMARK"}
    with pytest.raises(Expired, match="Expired: too old resource version: 1"):
        await watched("1", 5)
    assert int(await connection.version(CONFIG_MAPS, namespace)) > int(newest)


async def test_events_are_counted_in_place(connection: Connection, namespace: str) -> None:
    made = await connection.create(PODS, pod(namespace, "web"))
    writer = EventWriter(connection, "probelet-agent", "node-a", LoopClock())
    running = asyncio.create_task(writer.run())
    web = Regarding("v1", "Pod", namespace, "web", made["metadata"]["uid"], "spec.containers{app}")
    for number in (1, 2, 3):
        writer.record(web, "Warning", "Unhealthy", "Liveness probe failed: 503")
        await until(lambda number=number: writer.written == number)
    running.cancel()
    listed = await connection.list(EVENTS, namespace, fields=f"involvedObject.uid={made['metadata']['uid']}")
    (event,) = listed.items
    assert (event["count"], event["type"], event["reason"], event["reportingComponent"]) == (
        3,
        "Warning",
        "Unhealthy",
        "probelet-agent",
    )


async def test_leases_are_renewed_and_handed_over(connection: Connection, namespace: str) -> None:
    clock = LoopClock()
    heartbeat = Heartbeat(connection, "agent", namespace, "node-a", clock, renew_ns=50_000_000)
    beating = asyncio.create_task(heartbeat.run())
    await until(lambda: heartbeat.renewed_ns)
    first = heartbeat.renewed_ns
    await until(lambda: heartbeat.renewed_ns > first)
    beating.cancel()
    lease = await connection.get(LEASES, "agent", namespace)
    assert lease["spec"]["leaseDurationSeconds"] == 40

    async def forever() -> None:
        await asyncio.Event().wait()

    one, two = (LeaderElection(connection, "controller", namespace, holder, clock) for holder in ("one", "two"))
    leads = asyncio.create_task(one.run(forever))
    await until(lambda: one.leading)
    waits = asyncio.create_task(two.run(forever))
    await until(lambda: two.leader == "one")
    leads.cancel()
    await asyncio.wait([leads])
    await until(lambda: two.leading)
    waits.cancel()
    await asyncio.wait([waits])
    lease = await connection.get(LEASES, "controller", namespace)
    assert lease["spec"]["leaseTransitions"] >= 1
    assert not lease["spec"].get("holderIdentity")


async def test_a_node_is_read_by_its_own_user(server: ApiServer, connection: Connection) -> None:
    await connection.create(NODES, {"metadata": {"name": "node-a"}})
    async with Connection.from_kubeconfig(server.kubeconfig(NODE)) as node:
        assert (await node.get(NODES, "node-a"))["kind"] == "Node"
