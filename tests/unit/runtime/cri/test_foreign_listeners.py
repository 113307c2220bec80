"""Which program answers at a pod's address: the kernel's tables, the processes, and the verdict."""

import math
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path

import pytest
from probelet.runtime.embedded.child.process_tree import Process
from probelet.runtime.embedded.listening.foreign import Member, Scene, convicted, look
from probelet.runtime.embedded.listening.holders import UNKNOWN, containers_of, sockets_of
from probelet.runtime.embedded.listening.report import ForeignListener, decode, encode, ports_in, ports_text
from probelet.runtime.embedded.listening.sockets import Listener, LookTooLong, listeners

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
ROW = "   0: {} 00000000:0000 {} 00000000:00000000 00:00000000 00000000     0        0 {} 1 0000 100 0 0 10 0\n"

POD = "127.64.9.9"
FAR = time.thread_time() + 3600
ALL = Listener(ip_address("0.0.0.0"), 80, 7)
MEMBERS = {10: Member("c-own", "s-own", "default/own", "app"), 20: Member("c-other", "s-other", "default/other", "app")}
SCENE = Scene({(POD, 80): "s-own"}, MEMBERS)


def table(*rows: tuple[str, str, int]) -> str:
    return HEAD + "".join(ROW.format(*row) for row in rows)


def test_listening_sockets_are_read_from_the_kernels_tables(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(
        table(("0100007F:0050", "0A", 1), ("00000000:1F90", "0A", 2), ("00000000:0051", "01", 3), ("bad", "0A", 4))
    )
    mapped = "0000000000000000FFFF000002014064:0050"
    (tmp_path / "tcp6").write_text(table(("0" * 32 + ":0050", "0A", 5), (mapped, "0A", 6)))
    found = listeners({80, 8080, 81}, FAR, tmp_path)
    assert [(str(one), one.inode) for one in found] == [
        ("127.0.0.1:80", 1),
        ("0.0.0.0:8080", 2),
        ("[::]:80", 5),
        ("100.64.1.2:80", 6),
    ]


def test_a_machine_with_too_many_sockets_ends_the_look(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(table(("0100007F:0050", "0A", 1)))
    with pytest.raises(LookTooLong):
        listeners({80}, time.thread_time() - 1, tmp_path)
    with pytest.raises(LookTooLong):
        sockets_of(os.getpid(), {1}, time.thread_time() - 1)


def test_every_process_below_the_runtime_has_its_container(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = {40: b"c-exec", 50: b""}
    environments = {pid: {b"PROBELET_CONTAINER_ID": mark} for pid, mark in marks.items()}
    monkeypatch.setattr("probelet.runtime.embedded.child.process_tree.environment_of", lambda pid: environments[pid])
    # pid: its parent and its session; 1 is the runtime.
    rows = {10: (1, 10), 11: (10, 11), 30: (1, 10), 40: (1, 40), 41: (40, 41), 50: (1, 50), 60: (2, 60)}
    processes = {pid: Process(pid, parent, pid, session, True) for pid, (parent, session) in rows.items()}
    assert containers_of(processes, 1, {10: "c"}) == {
        10: "c",
        11: "c",  # A child in a session of its own.
        30: "c",  # A daemon that forked twice.
        40: "c-exec",  # The command of an exec run, or an orphan in a session of its own.
        41: "c-exec",
        50: UNKNOWN,
    }


@pytest.mark.parametrize(
    ("owners", "held", "unreadable", "is_foreign"),
    [
        pytest.param({10: "c-own", 20: "c-other"}, {7: 20}, [], True, id="another pod's"),
        pytest.param({10: "c-own"}, {}, [], True, id="a program's outside of the pods"),
        pytest.param({10: "c-own", 12: "c-own"}, {7: 12}, [], False, id="a child's of the pod"),
        pytest.param({10: "c-own", 12: "c-own"}, {}, [12], False, id="perhaps a process's of the pod, of another user"),
        pytest.param({10: "c-own", 20: "c-other"}, {}, [20], True, id="not the pod's, whichever process holds it"),
        pytest.param({10: "c-own", 50: UNKNOWN}, {7: 50}, [], False, id="of a process without a container"),
        pytest.param({10: "c-own", 50: UNKNOWN}, {}, [50], False, id="perhaps of a process without a container"),
    ],
)
def test_a_listener_is_foreign_unless_it_may_be_the_pods(
    owners: dict[int, str], held: dict[int, int], unreadable: list[int], is_foreign: bool
) -> None:
    foreign = convicted(SCENE, {(POD, 80): [ALL]}, owners, held, unreadable)
    assert foreign == ([(POD, 80)] if is_foreign else [])


def test_a_port_that_pods_share_with_so_reuseport_is_each_ones_own() -> None:
    shared = [ALL, Listener(ip_address("0.0.0.0"), 80, 8)]
    assert not convicted(SCENE, {(POD, 80): shared}, {10: "c-own", 20: "c-other"}, {7: 20, 8: 10}, [])


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listen(opened: ExitStack, address: str, port: int = 0) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = opened.enter_context(socket.create_server((address, port), family=family, dualstack_ipv6=":" in address))
    return int(server.getsockname()[1])


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::"])
def test_a_program_on_a_wildcard_address_answers_for_every_pod_that_does_not_listen(
    opened: ExitStack, wildcard: str
) -> None:
    port = listen(opened, wildcard)
    scene = Scene({(POD, port): "s-own"}, MEMBERS)
    shown = "[::]" if wildcard == "::" else wildcard
    found = look(scene)[f"{POD}:{port}"]
    assert (found.listener, found.pod, found.pid) == (f"{shown}:{port}", "", os.getpid())
    assert found.program


@pytest.mark.parametrize("address", [POD, f"::ffff:{POD}"])
def test_a_listener_on_the_pods_own_address_comes_before_any_other(opened: ExitStack, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    own = opened.enter_context(socket.socket(family))
    other = opened.enter_context(socket.socket())
    for one in (own, other):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    # A port that is free on every address.
    other.bind(("0.0.0.0", 0))
    port = other.getsockname()[1]
    own.bind((address, port))
    own.listen()
    other.listen()
    assert look(Scene({(POD, port): "s-own", ("127.64.9.10", port): "s-other"}, MEMBERS)).keys() == {
        f"127.64.9.10:{port}"
    }


def test_a_port_without_a_listener_is_nobodys() -> None:
    assert not look(Scene({(POD, 1): "s-own"}, MEMBERS))
    assert not look(Scene({}, {}))


def test_what_crosses_the_cri() -> None:
    found = {"127.64.9.9:80": ForeignListener("0.0.0.0:80", "default/b", "app", 12, "a\x1b")}
    assert decode(encode(found)) == found
    assert ports_in({"probelet.dev/probed-ports": ports_text({9090, 80})}) == [80, 9090]
    assert ports_in({"probelet.dev/probed-ports": "x,²,123456,7"}) == [7]
    assert ports_in({}) == []


def test_a_process_that_ends_during_the_look_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["sleep", "60"])
    listdir = os.listdir

    def late(folder: int) -> list[str]:
        child.kill()
        child.wait()
        return listdir(folder)

    monkeypatch.setattr(os, "listdir", late)
    assert sockets_of(child.pid, {1}, deadline=math.inf) == set()
