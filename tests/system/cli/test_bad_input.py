"""Mistakes on the real command line: each is one line with the place, the mistake and the allowed values.

What stops the start ends with exit code 2 (3 when it is this machine that cannot) before anything has run; what the
kubelet accepts is a warning and runs; and no mistake stops what already runs.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.cli.conftest import (
    Run,
    Start,
    manifest,
    probelet,
    processes_with,
    refusing,
    wait_for,
    with_image,
)

pytestmark = pytest.mark.e2e

# From a wrong probe field, in line 10 of the manifest, to its message.
FIELDS = {
    "wrong type": (
        "    livenessProbe:\n      periodSeconds: ten\n      exec: {command: [sh]}",
        '11: spec.containers[0].livenessProbe.periodSeconds: Invalid value: "ten": must be an integer, not a string',
    ),
    "a number that YAML reads as something else": (
        "    livenessProbe:\n      exec: {command: [sh, on]}",
        "11: spec.containers[0].livenessProbe.exec.command[1]: Invalid value: true: must be a string, "
        'not a boolean (YAML reads on so); write "on" in quotes',
    ),
    "two handlers": (
        "    livenessProbe:\n      exec: {command: [sh]}\n      tcpSocket: {port: 80}",
        "12: spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
    ),
    "no handler": (
        "    livenessProbe:\n      periodSeconds: 3",
        "10: spec.containers[0].livenessProbe: Required value: must specify a handler type",
    ),
    "a readiness probe with a grace": (
        "    readinessProbe:\n      exec: {command: [sh]}\n      terminationGracePeriodSeconds: 3",
        "12: spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 3: "
        "must not be set for readinessProbes",
    ),
    "a port that is none": (
        "    readinessProbe:\n      httpGet: {port: 70000}",
        "11: spec.containers[0].readinessProbe.httpGet.port: Invalid value: 70000: "
        "must be between 1 and 65535, inclusive",
    ),
    "a threshold below zero": (
        "    readinessProbe:\n      exec: {command: [sh]}\n      failureThreshold: -1",
        "12: spec.containers[0].readinessProbe.failureThreshold: Invalid value: -1: must be greater than or equal to 0",
    ),
    "a second success asked of a liveness probe": (
        "    livenessProbe:\n      exec: {command: [sh]}\n      successThreshold: 2",
        "12: spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
    ),
}

# Whole files that are wrong.
TEXTS = {
    "not YAML": ("a: [b\nc: }\n", "2: not YAML: did not find expected ',' or ']', while parsing a flow sequence"),
    "aliases that multiply": (
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"b{n}: &b{n} [{','.join(['*' + ('a' if n == 0 else f'b{n - 1}')] * 9)}]\n" for n in range(9)),
        "6: aliases expand to more than 100000 values",
    ),
    "nested for ever": ("[" * 100_000, "1: nested deeper than 100 levels"),
    "more than 10 MiB": ("#" * (10 * 1024 * 1024 + 1), " cannot be read: larger than 10485760 bytes"),
    "something else": (
        "apiVersion: v1\nkind: Deployment\n",
        '1: apiVersion: Unsupported value: "v1": supported values: "apps/v1"',
    ),
    "no mapping": ("- a\n", '1: ["a"] is not a Kubernetes object'),
    "not UTF-8": (b"a: 1\nb: \xe9\n", "2: not UTF-8: byte 0xe9"),
}


def texts(name: str, marker: str) -> Iterator[tuple[str, bytes, str]]:
    """Every wrong file, with the message that follows the file's name."""
    for what, (probe, message) in FIELDS.items():
        yield what, manifest(name, marker, probe=probe).encode(), message
    for what, (text, message) in TEXTS.items():
        yield what, text.encode() if isinstance(text, str) else text, message
    twice = manifest(name, marker) + "---" + manifest(name, marker)
    yield "a pod twice", twice.encode(), f'12: metadata.name: Duplicate value: "default/{name}": already defined at '


def refused(path: Path, state_dir: Path, *options: str) -> str:
    """The line that ``run`` prints when it refuses to start."""
    ended = refusing("run", str(path), *options, "--listen", "127.0.0.1:0", "--state-dir", str(state_dir))
    assert (ended.returncode, ended.stdout) == (2, "")
    [line] = ended.stderr.splitlines()
    assert not state_dir.exists()
    return line


@pytest.mark.parametrize("what", [*FIELDS, *TEXTS, "a pod twice"])
def test_run_refuses_a_wrong_manifest(what: str, tmp_path: Path, marker: str) -> None:
    [(text, message)] = [(text, message) for name, text, message in texts("web", marker) if name == what]
    path = tmp_path / "web.yaml"
    path.write_bytes(text)
    # The first of two pods would run.
    options = ["--strict"] if what == "a pod twice" else []
    assert refused(path, tmp_path / "state", *options).startswith(f"probelet run: {path}:{message}")
    assert processes_with(marker) == []


def test_a_process_that_refuses_ends_with_the_same_line(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text("a: [b\nc: }\n")
    ended = probelet("run", str(path), "--listen", "127.0.0.1:0", "--state-dir", str(tmp_path / "state"))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"{refused(path, tmp_path / 'state')}\n"


def test_run_refuses_an_unreadable_file(tmp_path: Path) -> None:
    loop, pipe = tmp_path / "loop.yaml", tmp_path / "pipe.yaml"
    loop.symlink_to(loop)
    os.mkfifo(pipe)
    for path, why in (
        (loop, "Too many levels of symbolic links"),
        (pipe, "not a regular file"),
        (tmp_path / "missing.yaml", "No such file or directory"),
    ):
        assert refused(path, tmp_path / "state") == f"probelet run: {path}: cannot be read: {why}"


def test_no_mistake_in_a_manifest_stops_a_running_pod(start: Start, tmp_path: Path, marker: str) -> None:
    """The test saves every wrong file over the manifest of a running pod; another pod runs beside it."""
    folder = tmp_path / "pods"
    folder.mkdir()
    path = folder / "web.yaml"
    path.write_text(manifest("web", f"{marker}-web"))
    (folder / "other.yaml").write_text(manifest("other", f"{marker}-other"))
    run = start(str(folder))
    run.line("listening")
    for name in ("web", "other"):
        wait_for(lambda name=name: run.status()[name]["phase"] == "Running", name)
    before = running(run.status())
    for what, text, message in texts("web", f"{marker}-wrong"):
        if what == "a pod twice":
            continue  # The first of the two documents is valid and replaces the running pod.
        path.write_bytes(text)
        assert run.line(f"{path}:{message}")["level"] == "error", what
    # In one step, because a pod goes whose file is away for a moment.
    loop = tmp_path / "loop"
    loop.symlink_to(path)
    loop.replace(path)
    run.line("Too many levels of symbolic links")
    assert running(run.status()) == before
    assert all(processes_with(f"{marker}-{name}") for name in before)
    assert processes_with(f"{marker}-wrong") == []


def running(pods: dict[str, Any]) -> dict[str, tuple[str, str, int]]:
    """The running container of each pod, without the processes that the container starts."""
    rows = {name: pod["containers"][0] for name, pod in pods.items()}
    return {name: (row["state"], row["container_id"], row["restart_count"]) for name, row in rows.items()}


# The kubelet accepts these manifests: the line is a warning, and the pod runs.
WARNINGS = {
    "an unknown field": (
        "    livenesProbe: {exec: {command: [sh]}}",
        "10: spec.containers[0].livenesProbe: unknown field, ignored; did you mean livenessProbe?",
    ),
    "a port name that does not exist": (
        "    ports: [{name: web, containerPort: 80}]\n    readinessProbe:\n      httpGet: {port: http}",
        '12: spec.containers[0].readinessProbe.httpGet.port: Invalid value: "http": '
        "names no port of container app, so every run is an error (named: web)",
    ),
    "a field written twice": (
        "    workingDir: /\n    workingDir: /tmp",
        "11: spec.containers[0].workingDir: duplicate field, the last one counts",
    ),
    "a probe whose program does not exist": (
        "    readinessProbe:\n      exec: {command: [/no/such/program]}",
        '11: spec.containers[0].readinessProbe.exec.command[0]: Invalid value: "/no/such/program": '
        "no such program on this machine, every run is an error without it",
    ),
}


def test_a_manifest_that_the_kubelet_accepts_is_a_warning_and_runs(start: Start, tmp_path: Path, marker: str) -> None:
    for number, (probe, _) in enumerate(WARNINGS.values()):
        (tmp_path / f"{number}.yaml").write_text(manifest(f"pod-{number}", f"{marker}-{number}", probe=probe))
    run = start(*(str(tmp_path / f"{number}.yaml") for number in range(len(WARNINGS))))
    for number, (_, message) in enumerate(WARNINGS.values()):
        assert run.line(f"{tmp_path / f'{number}.yaml'}:{message}")["level"] == "warning"
        wait_for(lambda number=number: processes_with(f"{marker}-{number}"), f"pod {number}")


def last_exit(run: Run, pod: str) -> dict[str, object]:
    run.line("listening")
    found: dict[str, object] = wait_for(lambda: run.status()[pod]["containers"][0]["last_exit"], f"an exit of {pod}")
    return found


def test_a_command_that_does_not_exist(start: Start, tmp_path: Path, marker: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(manifest("bad", marker).replace("[sh,", "[/no/such/program,"))
    (tmp_path / "good.yaml").write_text(manifest("good", marker))
    run = start(str(path), str(tmp_path / "good.yaml"))
    assert run.line(f"{path}:9: spec.containers[0].command[0]: ")["message"].endswith(
        'Invalid value: "/no/such/program": no such program on this machine, the container cannot start without it'
    )
    assert (last_exit(run, "bad")["exit_code"], last_exit(run, "bad")["reason"]) == (128, "StartError")
    assert 'exec: \\"/no/such/program\\": no such file or directory' in run.verb("events", "-o", "json").stdout
    wait_for(lambda: processes_with(marker), "the good one")


SERVE = "import os, signal, socket; s = socket.create_server(('0.0.0.0', int(os.environ['PORT']))); signal.pause()"


def serving(name: str, port: int, marker: str) -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
  - name: app
    command: [python3, -c, "{SERVE}", {marker}]
    env: [{{name: PORT, value: "{port}"}}]
"""


def test_a_port_that_somebody_else_has(start: Start, tmp_path: Path, marker: str) -> None:
    with socket.create_server(("0.0.0.0", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "bad.yaml").write_text(serving("bad", port, f"{marker}-bad"))
        (tmp_path / "good.yaml").write_text(serving("good", 0, f"{marker}-good"))
        run = start(str(tmp_path / "bad.yaml"), str(tmp_path / "good.yaml"))
        found = last_exit(run, "bad")
        assert (found["exit_code"], found["reason"]) == (1, "Error")
        *_, message, hint = str(found["message"]).splitlines()
        assert message.startswith("OSError: [Errno 98] Address already in use")
        assert hint.startswith("the log says that the address is already in use: every pod has an address of its own")
        assert "a program of this machine that listens on 0.0.0.0 has its port" in hint
        line = run.line("container exited")
        assert (line["level"], line["pod"], line["container"], line["exit_code"]) == (
            "warning",
            "default/bad",
            "app",
            1,
        )
        assert line["output"] == hint[:256]
        # The first restart is free, so the container runs again at some moments.
        shown = "the log says that the address is already in use"
        wait_for(lambda: shown in run.verb("status").stdout, "its last exit in the status")
        wait_for(lambda: processes_with(f"{marker}-good"), "the good one")


def test_run_refuses_a_socket_without_a_runtime(tmp_path: Path, marker: str) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(with_image(manifest("web", marker)))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "other.sock"))
        server.listen()
        for name, why in (
            ("other.sock", "no CRI v1 runtime answers: "),
            ("web.yaml", "is not a socket"),
            ("missing.sock", "No such file or directory"),
        ):
            thread = threading.Thread(target=_answer_like_a_web_server, args=(server,), daemon=True)
            if name == "other.sock":
                thread.start()
            ended = probelet("run", str(path), "--listen", "127.0.0.1:0", "--runtime", f"unix://{tmp_path / name}")
            assert (ended.returncode, ended.stdout) == (3, "")
            [line] = [line for line in ended.stderr.splitlines() if line.startswith("probelet run: ")]
            assert line.startswith(f"probelet run: runtime endpoint unix://{tmp_path / name}: {why}")
            assert "Traceback" not in ended.stderr
            if name == "other.sock":
                # The waiting accept must end before its descriptor is closed and another thread reuses the number.
                server.shutdown(socket.SHUT_RDWR)
                thread.join()


def _answer_like_a_web_server(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection:
                connection.recv(1024)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "runtimeRequestTimeout: [1]",
            '3: runtimeRequestTimeout: Invalid value: [1]: must be a duration text such as "1m30s", not a list',
        ),
        (
            "runtimeRequestTimeout: 2",
            '3: runtimeRequestTimeout: Invalid value: 2: must be a duration text such as "1m30s", not a number',
        ),
        (
            "featureGates: {ExecProbeTimeout: maybe}",
            '3: featureGates[ExecProbeTimeout]: Invalid value: "maybe": must be true or false, not a string',
        ),
        ("featureGates: {NoSuch: true}", "3: featureGates[NoSuch]: unrecognized feature gate: NoSuch"),
    ],
)
def test_a_configuration_with_a_mistake(text: str, message: str, tmp_path: Path, marker: str) -> None:
    path, config = tmp_path / "web.yaml", tmp_path / "config.yaml"
    path.write_text(manifest("web", marker))
    config.write_text(f"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n{text}\n")
    ended = refusing("run", str(path), "--config", str(config), "--listen", "127.0.0.1:0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"probelet run: {config}:{message}\n"
    assert processes_with(marker) == []
