"""Which program answers at a pod's address, by the runtime's verbose status, with real processes."""

import os
import socket
import sys

import pytest
from probelet.runtime.embedded.listening.report import (
    FOREIGN_LISTENERS,
    PROBED_PORTS,
    ForeignListener,
    decode,
    ports_text,
)

from tests.system.process_runtime.conftest import RunningRuntime, until

pytestmark = pytest.mark.e2e

# Listens everywhere on its port, as a daemon that has left the process, the session and the environment of its parent,
# as far as its second argument says.
LISTEN = """
import os, socket, sys
if sys.argv[2] != "stay":
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
server = socket.create_server(("", int(sys.argv[1])))
if sys.argv[2] == "forget":
    server.set_inheritable(True)
    os.execve("/bin/sleep", ["sleep", "60"], {})
while True:
    server.accept()
"""


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


async def found(running: RunningRuntime) -> dict[str, ForeignListener]:
    status = await running.client.status(verbose=True)
    return decode(status.info[FOREIGN_LISTENERS])


async def test_the_owner_of_each_answer(running: RunningRuntime) -> None:
    direct, daemon, execed, outside, nobody = ports = free_ports(5)
    one, two = await running.pod("one"), await running.pod("two")
    probed = {PROBED_PORTS: ports_text(ports)}
    script = f'{sys.executable} -c "$0" {direct} stay & {sys.executable} -c "$0" {daemon} leave; sleep 60'
    container = await one.start("sh", "-c", script, LISTEN, name="server", annotations=probed)
    await two.start("sleep", "60", annotations=probed)
    await running.client.exec_sync(container, [sys.executable, "-c", LISTEN, str(execed), "leave"], 30)
    with socket.create_server(("", outside)):

        async def all_listen() -> bool:
            return len(await found(running)) == 5

        await until(all_listen)
        rows = await found(running)
    owners = {place: (row.pod, row.container) for place, row in rows.items()}
    assert owners == {
        **{f"{two.ip}:{port}": ("default/one", "server") for port in (direct, daemon, execed)},
        **{f"{pod.ip}:{outside}": ("", "") for pod in (one, two)},
    }
    assert rows[f"{one.ip}:{outside}"].pid == os.getpid()
    assert all(row.listener == f"0.0.0.0:{place.rpartition(':')[2]}" for place, row in rows.items())
    assert not any(place.endswith(f":{nobody}") for place in rows)

    await running.client.stop_container(container, 0)
    assert await found(running) == {}


async def test_a_daemon_that_hides_from_its_container_may_be_the_pods_own(running: RunningRuntime) -> None:
    (port,) = free_ports(1)
    pod = await running.pod("one")
    script = f'env -i {sys.executable} -c "$0" {port} forget; sleep 60'
    await pod.start("sh", "-c", script, LISTEN, annotations={PROBED_PORTS: ports_text([port])})

    async def listens() -> bool:
        with socket.socket() as client:
            return client.connect_ex((pod.ip, port)) == 0

    await until(listens)
    assert await found(running) == {}
