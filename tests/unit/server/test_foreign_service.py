"""The client asks nothing of a service that may be another user's, and ours answers no other user."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from probelet.base.files.unix_socket import Peer
from probelet.server.control import client as client_module
from probelet.server.control import connection as connection_module
from probelet.server.control import server as server_module
from probelet.server.control.client import Client
from probelet.server.control.state_dir import default_state_dir, locked_state_dir, socket_path
from probelet.server.error import NotRunningError, ServerError, UntrustedServiceError

from tests.support.other_user import OTHER_UID, as_other_user, needs_root, shared_directory
from tests.unit.server.conftest import Served, unix_listener


@pytest.fixture
def shared() -> Iterator[Path]:
    with shared_directory() as path:
        yield path


def refusal(state_dir: Path) -> str:
    with pytest.raises(UntrustedServiceError) as error:
        Client(state_dir).status()
    return str(error.value)


@contextmanager
def answering(state_dir: Path, answer: Callable[[socket.socket], object]) -> Iterator[None]:
    """A service that answers one request with ``answer``, which may fail once the client has left."""
    with closing(unix_listener(socket_path(state_dir))) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                try:
                    answer(connection)
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


@needs_root
def test_the_directory_of_another_user_is_not_asked(shared: Path) -> None:
    def plant() -> None:
        (shared / "state").mkdir(mode=0o777)
        unix_listener(socket_path(shared / "state")).close()

    as_other_user(plant)
    assert (
        refusal(shared / "state") == f"{shared}/state belongs to uid {OTHER_UID}, not to root; nothing there is asked"
    )
    # The service does not take the directory either.
    with pytest.raises(ServerError, match="must be owned by uid 0"), locked_state_dir(shared / "state"):
        pass


@needs_root
def test_a_link_of_another_user_to_a_directory_of_root_is_not_followed(shared: Path, tmp_path: Path) -> None:
    as_other_user(lambda: (shared / "state").symlink_to(tmp_path))
    expected = f"{shared}/state is a link of uid {OTHER_UID}, which can change it"
    assert refusal(shared / "state") == expected
    with pytest.raises(ServerError, match=expected), locked_state_dir(shared / "state"):
        pass
    assert list(tmp_path.iterdir()) == []


@needs_root
def test_the_socket_of_another_user_is_not_asked(shared: Path) -> None:
    # A directory in which other users can make what is theirs.
    as_other_user(lambda: unix_listener(socket_path(shared)).close())
    assert refusal(shared) == f"{shared}/control.sock belongs to uid {OTHER_UID}, not to root; nothing there is asked"


def test_something_else_in_the_place_of_the_socket_is_not_asked(tmp_path: Path) -> None:
    with closing(unix_listener(tmp_path / "elsewhere")):
        socket_path(tmp_path).symlink_to("elsewhere")
        assert refusal(tmp_path) == f"{tmp_path}/control.sock is not a socket"


def test_a_process_of_another_user_behind_the_socket_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "peer_of", lambda _: Peer(7, 4711, 4711))
    with closing(unix_listener(socket_path(tmp_path))):
        assert refusal(tmp_path) == (f"{tmp_path}/control.sock: process 7 of uid 4711 answers there; it is not asked")


@needs_root
def test_a_user_trusts_a_service_of_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with answering(tmp_path, lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n{}")):
        assert Client(tmp_path).status() == {}


async def test_the_service_answers_no_other_user(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "peer_of", lambda _: Peer(7, 4711, 4711))
    with pytest.raises(NotRunningError, match="answered 403: the control socket answers its user and root only"):
        await asyncio.to_thread(Client(served.state_dir).status)
    monkeypatch.setattr(server_module, "peer_of", lambda _: Peer(7, 0, 0))
    await asyncio.to_thread(Client(served.state_dir).status)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_an_endless_answer_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "ANSWER_BYTES_MAX", 1_000_000)

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with answering(tmp_path, answer), pytest.raises(NotRunningError, match=r"has more than 1000000 bytes$"):
        Client(tmp_path).status()


@pytest.mark.parametrize("within", ["the header", "a header's name", "the body"])
def test_an_answer_that_drips_in_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: str) -> None:
    monkeypatch.setattr(client_module, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(client_module, "WHOLE_ANSWER_SECONDS", 0.05)
    drops = {"the header": b"A: b\r\n", "a header's name": b"x", "the body": b" "}

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + (b"\r\n" if within == "the body" else b""))
        while True:
            connection.sendall(drops[within])
            # Far less often than the limit of one read.
            connection.settimeout(0.001)
            try:
                if not connection.recv(1):
                    return
            except TimeoutError:
                connection.settimeout(None)

    with answering(tmp_path, answer), pytest.raises(NotRunningError):
        Client(tmp_path).status()


@pytest.mark.parametrize("body", [b"not json", b"[1]", b"\xff", b"[" * 5_000, b""])
def test_an_answer_that_is_no_json_object_is_one_line(tmp_path: Path, body: bytes) -> None:
    with (
        answering(tmp_path, lambda connection: connection.sendall(HEAD + b"\r\n" + body)),
        pytest.raises(NotRunningError, match=r"gave an answer that is not JSON$"),
    ):
        Client(tmp_path).status()


def test_an_event_without_an_end_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LINE_BYTES_MAX", 1000)

    def answer(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        while True:
            connection.sendall(b"x" * 65536)

    with answering(tmp_path, answer), pytest.raises(NotRunningError, match=r"has ended$"):
        next(Client(tmp_path).follow())


@needs_root
def test_the_runtime_directory_of_another_user_is_not_the_default(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_other_user(lambda: (shared / "user").mkdir())
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shared / "user"))
    assert default_state_dir() == Path("/tmp/probelet-0")
