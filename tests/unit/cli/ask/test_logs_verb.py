"""``probelet logs`` on the files of a service, and on what is left when it has ended."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from probelet.base.logs import ended
from probelet.base.logs.kept import KeptLogs
from probelet.base.logs.layout import log_directory_of
from probelet.cli.ask.logs.printer import LogPrinter

from tests.unit.cli.conftest import Probelet, Service

TIME = "2026-11-22T10:00:00.5Z"


def document(*containers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    rows = containers or ({"name": "migrate", "kind": "init"}, {"name": "app", "kind": "regular"})
    pod = {"namespace": "default", "name": "web", "uid": "u", "default_container": "", "containers": list(rows)}
    return {"schema": "probelet-logs/1", **pod, **changes}


def running(name: str = "app", **changes: Any) -> dict[str, Any]:
    return {"name": name, "kind": "regular", "state": "running", "reason": "", "restart_count": 0, **changes}


def write(root: Path, *lines: str, container: str = "app", name: str = "0.log", uid: str = "u") -> Path:
    path = root / log_directory_of("default", "web", uid) / container / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{TIME} stdout {line}\n" for line in lines).encode(errors="surrogateescape"))
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "pods"


async def test_the_log_of_a_running_container_is_where_the_service_says(service: Service, root: Path) -> None:
    service.view.logs_of["web"] = document(running(restart_count=4, has_exited=True), root=str(root))
    write(root, "F one", "P two, ", "F three", name="4.log")
    write(root, "F before", name="3.log")
    assert (await service.ask("logs", "web")).out == "one\ntwo, three\n"
    assert (await service.ask("logs", "web", "--previous")).out == "before\n"
    timed = await service.ask("logs", "web", "--timestamps", "--prefix", "--tail", "3")
    begin = "[pod/web/app] 2026-11-22T10:00:00.500000000Z"
    assert timed.out == f"{begin} one\n{begin} two, three\n"
    assert (await service.ask("logs", "web", "--tail", "0")).out == ""
    assert (await service.ask("logs", "web", "--since", "1m")).out == ""
    days = (datetime.now(UTC) - datetime(2026, 11, 1, tzinfo=UTC)) // timedelta(hours=1)
    assert (await service.ask("logs", "web", "--since", f"{max(days, 1)}h")).out.startswith("one" if days > 0 else "")


async def test_every_container_in_the_order_of_the_pod_and_errors_last(service: Service, root: Path) -> None:
    waits = running("late", state="waiting", reason="ContainerCreating")
    service.view.logs_of["web"] = document(running("migrate", kind="init"), waits, running(), root=str(root))
    write(root, "F first", container="migrate")
    write(root, "F second")
    ended = await service.ask("logs", "web", "--all-containers")
    assert (ended.code, ended.out) == (1, "first\nsecond\n")
    assert ended.err == 'probelet logs: container "late" in pod "web" is waiting to start: ContainerCreating\n'


async def test_following_ends_with_the_container_and_misses_nothing(service: Service, root: Path) -> None:
    log = write(root, "F one")
    asked = 0

    def answer() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == 2:
            log.write_bytes(log.read_bytes() + f"{TIME} stdout F the last words\n".encode())
            return document(running(state="terminated"), root=str(root))
        return document(running(), root=str(root))

    service.view.logs_of["web"] = answer
    assert (await service.ask("logs", "web", "-f")).out == "one\nthe last words\n"


async def test_a_pod_that_has_ended_is_found_in_its_run(service: Service, tmp_path: Path) -> None:
    for day, text in ((1, "older"), (2, "newer")):
        kept = KeptLogs(tmp_path / "state", datetime(2026, 11, day, tzinfo=UTC))
        ended.describe(kept.root, document())
        write(kept.root, f"F {text}")
        write(kept.root, "F migrated", container="migrate")
    found = await service.ask("logs", "default/web")
    assert (found.code, found.out) == (0, "newer\n")
    assert found.err.splitlines() == [
        "probelet logs: the pod has ended; this is its log of the run 20261102-000000",
        'Defaulted container "app" out of: app, migrate (init)',
    ]
    older = await service.ask("logs", "web", "-c", "migrate", "--from", str(kept.root.parent / "20261101-000000"))
    assert older.out == "migrated\n"
    listed = (await service.ask("logs")).out.splitlines()
    assert [line.split()[:3] for line in listed if "-c" in line] == [
        ["POD", "-c", "CONTAINER"],
        ["default/web", "-c", "migrate"],
        ["default/web", "-c", "app"],
    ] * 2
    assert str(kept.root) in listed[0]


def test_without_a_service_the_directories_name_the_containers(probelet: Probelet, root: Path) -> None:
    write(root, "F one", container="b")
    write(root, "F two", container="a")
    os.utime(root / "default_web_u", (0, 0))
    write(root, "F newest", container="b", uid="v")
    assert probelet("logs", "web", "--from", str(root)).out == "newest\n"
    (root / "default_web_v").rename(root / "shop_web_v")
    several = probelet("logs", "web", "--from", str(root))
    assert (several.code, several.out) == (2, "")
    assert "default/web" in several.err
    assert probelet("logs", "default/web", "--from", str(root)).err == 'Defaulted container "a" out of: a, b\n'


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nope",), 2, 'there is no pod "nope"'),
        (("web", "-c", "nope"), 2, "container nope is not valid for pod web out of: app"),
        (("web", "--previous"), 1, 'previous terminated container "app" in pod "web" not found'),
        (("web", "--tail", "-2"), 2, "--tail must be greater than or equal to -1"),
        (("web", "-c", "app", "--all-containers"), 2, "--all-containers=true should not be specified"),
        (("web", "--since", "-5m"), 2, "not a duration above zero"),
    ],
)
async def test_what_cannot_be_printed(
    service: Service, root: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    service.view.logs_of["web"] = document(running(), root=str(root))
    write(root, "F one")
    ended = await service.ask("logs", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


def test_without_service_and_logs_the_verb_cannot_work(probelet: Probelet, tmp_path: Path) -> None:
    ended = probelet("logs", "web", "--state-dir", str(tmp_path))
    assert (ended.code, ended.out) == (3, "")
    assert "no probelet runs in" in ended.err


def test_another_users_state_directory_is_not_read(
    probelet: Probelet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = KeptLogs(tmp_path / "state", datetime(2026, 11, 1, tzinfo=UTC))
    write(kept.root, "F planted")
    if os.getuid() == 0:
        os.chown(tmp_path / "state", 4_001, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 4_000)
    ended = probelet("logs", "web", "--state-dir", str(tmp_path / "state"))
    assert (ended.code, ended.out) == (3, "")


FOREIGN = "F \x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2J\ttab \u00e9\x9b\udcff"


def printed(line: str, *, terminal: bool, size: int = 5) -> bytes:
    """What becomes of a line that comes in blocks of a few bytes."""
    data = f"{TIME} stdout {line}\n".encode(errors="surrogateescape")
    out = io.BytesIO()
    printer = LogPrinter(out, terminal=terminal)
    printer.write(data[at : at + size] for at in range(0, len(data), size))
    printer.close()
    return out.getvalue()


def test_a_pipe_gets_the_bytes_of_the_container() -> None:
    assert printed(FOREIGN, terminal=False) == FOREIGN.removeprefix("F ").encode(errors="surrogateescape") + b"\n"


@pytest.mark.parametrize("size", [1, 5, 4096])
def test_a_terminal_gets_colours_and_no_other_escape_sequence(size: int) -> None:
    expected = "\x1b[1;31mred\x1b[0m \\x1b]0;title\\a\\x1b[2J\ttab \u00e9\\u009b\ufffd"
    assert printed(FOREIGN, terminal=True, size=size).decode() == expected + "\n\x1b[0m"
