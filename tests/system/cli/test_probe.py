"""``probelet probe`` with processes: exec on this machine and through CRI, Ctrl-C, a running pod."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE_SECONDS
from tests.system.cli.conftest import Start, manifest, probelet, processes_with, wait_for

pytestmark = pytest.mark.e2e


def asked(*arguments: str) -> tuple[int, dict[str, Any]]:
    ended = probelet("probe", "exec", "-o", "json", *arguments)
    assert ended.stderr == ""
    return ended.returncode, json.loads(ended.stdout)


def test_a_command_on_this_machine() -> None:
    code, seen = asked("--", "sh", "-c", "echo well; echo said >&2")
    assert (code, seen["outcome"], seen["cause"], seen["exit_code"]) == (0, "success", "ok", 0)
    assert seen["output"] == "well\nsaid\n"
    code, seen = asked("--", "sh", "-c", "echo sick; exit 7")
    assert (code, seen["outcome"], seen["cause"], seen["exit_code"]) == (1, "failure", "exec_exit", 7)
    assert seen["output"] == "sick\n"


def test_a_command_that_takes_too_long_is_killed_with_its_children(marker: str) -> None:
    code, seen = asked("--timeout", "1", "--", "sh", "-c", "sleep 86400 & wait; :", marker)
    assert (code, seen["outcome"], seen["cause"]) == (1, "failure", "exec_timeout")
    assert seen["output"] == f'command timed out: "sh -c sleep 86400 & wait; : {marker}" timed out after 1s'
    assert processes_with(marker) == []


def test_a_command_that_does_not_exist_is_an_error_of_the_prober() -> None:
    code, seen = asked("--tries", "3", "--", "no-such-program")
    assert (code, seen["outcome"], seen["cause"], seen["tries"]) == (3, "error", "cri", 3)
    assert 'exec: "no-such-program": executable file not found in $PATH' in seen["error"]


def test_an_output_of_bytes_is_cut_where_the_kubelet_cuts_it() -> None:
    _, seen = asked("--", sys.executable, "-c", "import os; os.write(1, b'\\xff' * 11000)")
    assert len(seen["output"]) == 10240
    assert len(seen["output_base64"]) > 10240


EXEC = """
    workingDir: %s
    env: [{name: WORD, value: hush}]
    startupProbe:
      exec: {command: [sh, -c, 'pwd; echo $WORD-$(WORD)-$POD_IP; test -e ready']}
      timeoutSeconds: 5
"""


def test_an_exec_probe_of_a_manifest_has_the_containers_environment(tmp_path: Path, marker: str) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(manifest("web", marker, probe=EXEC % tmp_path))
    ended = probelet("probe", "--from", str(path), "-o", "json", "--state-dir", str(tmp_path / "none"))
    seen = json.loads(ended.stdout)
    assert (ended.returncode, seen["outcome"]) == (1, "failure")
    assert seen["output"] == f"{tmp_path}\nhush-hush-127.0.0.1\n"
    (tmp_path / "ready").touch()
    assert probelet("probe", "--from", str(path), "--state-dir", str(tmp_path / "none")).returncode == 0


def test_a_command_in_a_running_container_through_its_runtime(start: Start, tmp_path: Path, marker: str) -> None:
    (tmp_path / "web.yaml").write_text(manifest("web", marker, probe="    env: [{name: WORD, value: inside}]"))
    run = start(str(tmp_path / "web.yaml"))
    run.line("container started")
    runtime = run.line("runtime found")["endpoint"]
    container = wait_for(lambda: run.status()["web"]["containers"][0]["container_id"], "the container's id")
    ended = probelet(
        *("probe", "exec", "--runtime", runtime, "--container-id", container, "-o", "json"),
        *("--", "sh", "-c", "echo $WORD"),
    )
    assert (ended.returncode, json.loads(ended.stdout)["output"]) == (0, "inside\n")
    ended = probelet("probe", "exec", "--runtime", runtime, "--container-id", "nobody", "--", "true")
    assert (ended.returncode, ended.stderr) == (3, "")
    assert "rpc error: code = NotFound" in ended.stdout


def test_probe_refuses_a_socket_without_a_runtime(tmp_path: Path) -> None:
    ended = probelet("probe", "exec", "--runtime", f"unix://{tmp_path}/x.sock", "--container-id", "a", "--", "true")
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == (f"probelet probe: runtime endpoint unix://{tmp_path}/x.sock: No such file or directory\n")


def test_a_probe_without_a_timeout_ends_with_ctrl_c() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        spec = json.dumps({"httpGet": {"port": silent.getsockname()[1]}})
        command = [sys.executable, "-m", "probelet", "probe", "--spec", spec]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(3) == b"GET"
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out, err) == (3, "", "probelet probe: interrupted\n")
