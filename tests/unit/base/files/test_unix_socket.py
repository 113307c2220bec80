"""A socket's path is taken over only from a dead process of this user, and given back only if it still is ours."""

import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest
from probelet.base.files.unix_socket import SocketPathError, bind_socket, bound_socket, check_socket_path, peer_of

from tests.support.other_user import OTHER_UID, as_other_user, needs_root


def listener(path: Path, backlog: int = 1) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    sock.listen(backlog)
    return sock


def refused(path: Path) -> str:
    with pytest.raises(SocketPathError) as error:
        bind_socket(path)
    with pytest.raises(SocketPathError) as checked:
        check_socket_path(path)
    assert str(checked.value) == str(error.value)
    return str(error.value).removeprefix(f"{path}: ")


def test_only_this_user_may_connect(tmp_path: Path) -> None:
    with closing(bind_socket(tmp_path / "s")):
        assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600


def test_the_socket_of_a_dead_process_is_replaced(tmp_path: Path) -> None:
    listener(tmp_path / "s").close()
    with closing(bind_socket(tmp_path / "s")) as sock:
        sock.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "s"))
            assert peer_of(client) == (os.getpid(), os.getuid(), os.getgid())


@pytest.mark.parametrize("queued", [0, 2])
def test_a_socket_on_which_a_process_listens_stays_also_if_its_queue_is_full(tmp_path: Path, queued: int) -> None:
    with closing(listener(tmp_path / "s", backlog=0)):
        clients = []
        for _ in range(queued):
            clients.append(socket.socket(socket.AF_UNIX))
            clients[-1].setblocking(False)
            clients[-1].connect_ex(str(tmp_path / "s"))
        assert refused(tmp_path / "s") == "a process listens on this socket; stop it or choose another path"
        for client in clients:
            client.close()
    assert (tmp_path / "s").is_socket()


def test_a_datagram_socket_with_its_process_stays(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(tmp_path / "s"))
        assert refused(tmp_path / "s").startswith("a process listens")


@pytest.mark.parametrize("what", ["file", "directory", "pipe", "broken link", "link to a socket"])
def test_anything_but_a_socket_stays(tmp_path: Path, what: str) -> None:
    path = tmp_path / "s"
    match what:
        case "file":
            path.touch()
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "broken link":
            path.symlink_to("nowhere")
        case _:
            listener(tmp_path / "dead").close()
            path.symlink_to("dead")
    before = path.lstat()
    assert refused(path).startswith("exists and is not a socket, so it stays as it is")
    assert os.path.samestat(path.lstat(), before)


@needs_root
def test_a_dead_socket_of_another_user_stays(shared: Path) -> None:
    as_other_user(lambda: listener(shared / "s").close())
    assert refused(shared / "s") == f"is a socket of uid {OTHER_UID}, so it stays as it is; choose another path"
    assert (shared / "s").is_socket()


def test_a_path_too_long_for_a_socket_is_one_line(tmp_path: Path) -> None:
    assert refused(tmp_path / ("x" * 108)) == "too long, the socket's path may have 107 bytes"


def test_the_end_removes_the_socket_but_not_one_that_took_its_place(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with bound_socket(path) as sock:
        sock.close()
    assert not path.exists()
    with bound_socket(path):
        path.rename(tmp_path / "moved")
        other = listener(path)
    assert path.is_socket()
    other.close()
