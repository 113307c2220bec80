import os
import signal
import stat
from pathlib import Path
from threading import Event, Thread, Timer

import pytest
from probelet.base.files.unix_socket import peer_of
from probelet.server.control import state_dir
from probelet.server.control.state_dir import default_state_dir, locked_state_dir, service_state_dir, socket_path
from probelet.server.error import ServerError

from tests.unit.server.conftest import Served, unix_listener


def test_a_new_directory_is_private_and_removed_at_the_end(tmp_path: Path) -> None:
    with locked_state_dir(tmp_path / "run" / "state") as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        unix_listener(socket_path(path)).close()
    assert not path.exists()


def test_an_existing_directory_stays_without_the_socket(tmp_path: Path) -> None:
    with locked_state_dir(tmp_path) as path:
        unix_listener(socket_path(path)).close()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_other_files_stays(tmp_path: Path) -> None:
    with locked_state_dir(tmp_path / "state") as path:
        (path / "journal").touch()
    assert (path / "journal").exists()


async def test_a_second_service_learns_which_process_holds_the_directory(served: Served) -> None:
    with pytest.raises(ServerError) as error, locked_state_dir(served.state_dir):
        pass
    assert str(error.value) == (
        f"--state-dir {served.state_dir}: another probelet (pid {os.getpid()}) runs here; stop it or choose another"
    )
    assert socket_path(served.state_dir).exists()


def test_a_service_without_a_socket_yet_holds_the_directory_too(tmp_path: Path) -> None:
    refused = pytest.raises(ServerError, match="another probelet runs here")
    with locked_state_dir(tmp_path), refused, locked_state_dir(tmp_path):
        pass


async def test_a_process_of_another_container_has_no_number_here(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel says 0 for a peer in a PID namespace that is not below ours."""
    monkeypatch.setattr(state_dir, "peer_of", lambda sock: peer_of(sock)._replace(pid=0))
    with pytest.raises(ServerError) as error, locked_state_dir(served.state_dir):
        pass
    assert "another probelet (in another container, pid unknown) runs here" in str(error.value)


def test_a_service_that_may_wait_gets_the_directory_when_the_holder_ends(tmp_path: Path) -> None:
    holders: list[str] = []
    held, asked = Event(), Event()

    def hold() -> None:
        # The directory goes with its maker, so the other one finds a new one.
        with locked_state_dir(tmp_path / "state"):
            held.set()
            asked.wait()

    def on_wait(holder: str) -> None:
        holders.append(holder)
        asked.set()

    holder = Thread(target=hold)
    holder.start()
    held.wait()
    with locked_state_dir(tmp_path / "state", on_wait=on_wait) as path:
        assert path.is_dir()
        refused = pytest.raises(ServerError, match="another probelet runs here")
        with refused, locked_state_dir(path):
            pass
    holder.join()
    assert holders == ["another probelet"]


def test_a_signal_ends_the_wait(tmp_path: Path) -> None:
    def on_wait(_: str) -> None:
        # The first process of a container is ended by no signal that it has not asked for.
        Timer(0, os.kill, (os.getpid(), signal.SIGTERM)).start()

    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with locked_state_dir(tmp_path), pytest.raises(KeyboardInterrupt), locked_state_dir(tmp_path, on_wait=on_wait):
            pass
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_the_socket_of_a_killed_service_is_replaced(tmp_path: Path) -> None:
    unix_listener(socket_path(tmp_path)).close()
    with locked_state_dir(tmp_path) as path:
        assert not socket_path(path).exists()


def test_the_directory_is_free_again_afterwards(tmp_path: Path) -> None:
    for _ in range(2):
        with locked_state_dir(tmp_path / "state"):
            pass


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_directory_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    refused = pytest.raises(ServerError, match=r"must be owned by uid \d+ and writable by no one else$")
    with refused, locked_state_dir(tmp_path):
        pass


def test_a_directory_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(ServerError, match="must be owned by uid"), locked_state_dir(tmp_path):
        pass


def test_a_file_in_the_way_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    refused = pytest.raises(ServerError, match=r"^--state-dir .*/state: Not a directory$")
    with refused, locked_state_dir(tmp_path / "state"):
        pass


def test_a_directory_that_cannot_be_made_is_one_line() -> None:
    refused = pytest.raises(ServerError, match=r"^--state-dir /proc/probelet: cannot create it: No such file")
    with refused, locked_state_dir(Path("/proc/probelet")):
        pass


def test_a_path_too_long_for_a_socket_is_one_line(tmp_path: Path) -> None:
    refused = pytest.raises(ServerError, match="too long, the socket's path may have 107 bytes")
    with refused, locked_state_dir(tmp_path / ("x" * 108)):
        pass


@pytest.mark.parametrize("what", ["file", "directory", "broken link"])
def test_anything_but_a_socket_at_its_path_is_refused_and_kept(tmp_path: Path, what: str) -> None:
    path = socket_path(tmp_path)
    match what:
        case "file":
            path.write_text("mine")
        case "directory":
            path.mkdir()
        case _:
            path.symlink_to("nowhere")
    before = path.lstat()
    refused = pytest.raises(
        ServerError, match=r"^--state-dir .*: control.sock: exists and is not a socket, so it stays"
    )
    with refused, locked_state_dir(tmp_path):
        pass
    assert os.path.samestat(path.lstat(), before)


def test_the_default_is_in_the_users_runtime_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert default_state_dir() == tmp_path / "probelet"


@pytest.mark.parametrize("runtime_dir", [None, "", "/no/such/directory"])
def test_without_a_runtime_directory_the_default_is_the_users_own_in_tmp(
    runtime_dir: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    if runtime_dir is not None:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_dir)
    assert default_state_dir() == Path(f"/tmp/probelet-{os.getuid()}")


def test_a_verb_asks_the_service_of_the_unit_if_the_user_runs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, unit = tmp_path / "run" / "probelet", tmp_path / "unit"
    for folder in (own, unit):
        folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(state_dir, "UNIT_STATE_DIR", unit)
    assert service_state_dir() == own
    socket_path(unit).touch()
    assert service_state_dir() == unit
    socket_path(own).touch()
    assert service_state_dir() == own
