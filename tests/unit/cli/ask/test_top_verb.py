import asyncio
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
from typing import Any

import pytest
from probelet.cli.ask.top_table import TopTable
from probelet.server.ranking import top_document
from rich.console import Console

from tests.unit.cli.conftest import Service
from tests.unit.server.fake_view import FAILED, SITUATIONS, container, document, last, pod, probe


async def test_the_worst_container_is_first(service: Service) -> None:
    ended = await service.ask("top")
    assert (ended.code, ended.err) == (0, "")
    assert (
        ended.out
        == """\
node-a: 8 containers, 2 failing, 1 in back-off, by hurt at 14:02:11 UTC
CONTAINER     STATE             RESTARTS  BACK-OFF  LATE  TOOK  PROBES
deadlock      Running           2                   <1ms  1ms   L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP probe failed with statuscode: 500
slow-starter  Starting          0                   <1ms  1ms   L· S✗4/30
  └ startup, 10s ago: Get "http://127.8.0.4:8080/h….8.0.4:8080: connect: refused
crasher       CrashLoopBackOff  3         28s
  └ exit 1, 12s ago: Error
two/app       Running           0                   <1ms  1ms   R✓1/3
two/proxy     Running           0                   <1ms  1ms   L✓
web           Running           0                   <1ms  1ms   L✓ R✓ S✓
job           Error (exit 137)  0
  └ exit 137: Killed
two/migrate   Completed         0
"""
    )
    assert all(len(line) <= 80 for line in ended.out.splitlines())
    assert "\x1b" not in ended.out


def shown(width: int) -> str:
    stream = io.StringIO()
    table = TopTable(top_document(SITUATIONS, "hurt"), SITUATIONS, unicode=True, lines=None)
    Console(file=stream, width=width).print(table)
    return stream.getvalue()


def test_a_narrow_terminal_keeps_container_state_and_probes() -> None:
    assert (
        shown(60)
        == """\
node-a: 8 containers, 2 failing, 1 in back-off, by hurt
CONTAINER     STATE             RESTARTS  PROBES
deadlock      Running           2         L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP probe failed …th statuscode: 500
slow-starter  Starting          0         L· S✗4/30
  └ startup, 10s ago: Get "http://127.8.…0: connect: refused
crasher       CrashLoopBackOff  3
  └ exit 1, 12s ago: Error
two/app       Running           0         R✓1/3
two/proxy     Running           0         L✓
web           Running           0         L✓ R✓ S✓
job           Error (exit 137)  0
  └ exit 137: Killed
two/migrate   Completed         0
"""
    )
    assert (
        shown(40)
        == """\
node-a: 8 containers, 2 failing
CONTAINER  STATE             PROBES
deadlock   Running           L✗2/3 R✗3/3
  └ liveness, 10s ago: HTTP pro…ode: 500
slow…rter  Starting          L· S✗4/30
  └ startup, 10s ago: Get "htt…: refused
crasher    CrashLoopBackOff
  └ exit 1, 12s ago: Error
two/app    Running           R✓1/3
two/proxy  Running           L✓
web        Running           L✓ R✓ S✓
job        Error (exit 137)
  └ exit 137: Killed
two/…rate  Completed
"""
    )


async def test_json_is_one_document_in_the_same_order(service: Service) -> None:
    ended = await service.ask("top", "-o", "json")
    found = json.loads(ended.out)
    assert {key: found[key] for key in ("schema", "node", "sort", "as_of")} == {
        "schema": "probelet-top/1",
        "node": "node-a",
        "sort": "hurt",
        "as_of": SITUATIONS["as_of"],
    }
    assert [row["pod"] for row in found["rows"]][:3] == ["deadlock", "slow-starter", "crasher"]
    assert found["rows"][2] == {
        "namespace": "default",
        "pod": "crasher",
        "container": "app",
        "kind": "regular",
        "state": "waiting",
        "reason": "CrashLoopBackOff",
        "ready": False,
        "restart_count": 3,
        "failing": 0,
        "backoff_seconds": 28,
        "lateness_ms": 0,
        "duration_ms": 0,
        "probes": {},
    }


async def test_another_order_comes_before_the_usual_one(service: Service) -> None:
    async def first(*arguments: str) -> str:
        found = json.loads((await service.ask("top", "-o", "json", *arguments)).out)
        return str(found["rows"][0]["pod"])

    late = probe(last={**last(), "lateness_ms": 250.0})
    slow = probe(last={**last(), "duration_ms": 900.0})
    service.view.document = document(
        pod("b-failing", container(probes={"liveness": probe(last=FAILED, result_run=1)})),
        pod("c-crashing", container(restart_count=9)),
        pod("d-late", container(probes={"liveness": late})),
        pod("e-slow", container(probes={"liveness": slow})),
        pod("a-well", container(probes={"liveness": probe()})),
        SITUATIONS["pods"][2],
    )
    assert [await first("--sort", order) for order in ("hurt", "failing", "restarts", "backoff")] == [
        "b-failing",
        "b-failing",
        "c-crashing",
        "crasher",
    ]
    assert [await first("--sort", order) for order in ("lateness", "duration", "name")] == [
        "d-late",
        "e-slow",
        "a-well",
    ]


async def test_a_kill_in_progress_ranks_above_a_pod_that_is_not_ready(service: Service) -> None:
    held = probe(result="Failure", result_run=0, on_hold=True, last=FAILED)
    service.view.document = document(
        pod("a", container(probes={"readiness": probe(result="Failure", last=FAILED)})),
        pod("b", container(probes={"liveness": held})),
        pod("c", container(probes={"liveness": probe(last=last("error", "no such port"))})),
    )
    rows = json.loads((await service.ask("top", "-o", "json")).out)["rows"]
    assert [(row["pod"], row["failing"]) for row in rows] == [("b", 2.0), ("a", 1.0), ("c", 0.1)]


async def test_an_empty_node_is_one_line(service: Service) -> None:
    service.view.document = document()
    message = "node-a: 0 containers, 0 failing, 0 in back-off, by hurt at 14:02:11 UTC\n"
    assert (await service.ask("top", "--once")).out == message


async def test_an_unknown_order_is_bad_input(service: Service) -> None:
    ended = await service.ask("top", "--sort", "pain")
    assert ended.code == 2
    assert "hurt" in ended.err


async def test_without_a_service_top_is_one_line(service: Service) -> None:
    service.control.path.unlink()
    ended = await service.ask("top")
    assert (ended.code, ended.out) == (3, "")


OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def on_a_terminal(service: Service, leave: bytes) -> tuple[int, str, Any, Any]:
    """Runs the verb on its own terminal and types ``leave`` after the first display: exit, output, settings."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (8, 80))
    before = termios.tcgetattr(slave)
    verb = ["-m", "probelet", "top", "--state-dir", str(service.control.path.parent)]
    child = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, sys.executable, *verb],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"},
    )
    shown = b""
    while b"more lines" not in shown and child.poll() is None:
        shown += _read(master)
    os.write(master, leave)
    while child.poll() is None or select.select([master], [], [], 0)[0]:
        shown += _read(master)
    after = termios.tcgetattr(slave)
    os.close(master)
    os.close(slave)
    return child.returncode, shown.decode(), before, after


def _read(master: int) -> bytes:
    readable, _, _ = select.select([master], [], [], 0.05)
    return os.read(master, 65536) if readable else b""


@pytest.mark.e2e
async def test_on_a_terminal_the_table_stays_in_place_until_q(service: Service) -> None:
    code, shown, before, after = await asyncio.to_thread(on_a_terminal, service, b"q")
    assert (code, after) == (0, before)
    assert "\x1b[3" not in shown, "NO_COLOR"
    lines = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", shown).replace("\r", "").splitlines()
    assert lines[0].startswith("node-a: 8 containers")
    assert any("more lines; --once shows all" in line for line in lines)


@pytest.mark.e2e
async def test_ctrl_c_leaves_the_terminal_as_it_was(service: Service) -> None:
    code, shown, before, after = await asyncio.to_thread(on_a_terminal, service, b"\x03")
    assert (code, after) == (0, before)
    assert "Traceback" not in shown
    assert "\x1b[?25h" in shown, "the cursor is back"
