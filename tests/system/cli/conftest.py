"""Starts ``probelet run`` by its command line with real pods, and reads its log line by line; what an agent sees."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from probelet.cli.app import run_command
from probelet.server.control.client import Client

from tests.support.limited import limited
from tests.support.patience import PATIENCE_SECONDS, pauses
from tests.unit.agent.scripted_agent import AgentNode, agent_node


def wait_for(what: Callable[[], Any], why: str) -> Any:
    for pause in pauses():
        if found := what():
            return found
        time.sleep(pause)
    raise AssertionError(f"waited in vain for {why}")


def processes_with(marker: str) -> list[int]:
    """Process IDs whose command line has this word, without zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in command:
                found.append(int(entry.name))
    return found


def probelet(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "probelet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def refusing(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command line that ends before it starts anything, in this process: a start of the interpreter for each
    mistake would take most of the time. A run that begins after all ends within a second."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            code = run_command([*arguments, "--duration", "1s"])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


class Run:
    """A running ``probelet run`` or ``serve``. ``log_lines`` is its log so far, one object per line. ``files`` is its
    limit of open files, soft and hard; None for ours. It reads ``text`` from its standard input; None for ours."""

    def __init__(
        self,
        state_dir: Path,
        *arguments: str,
        verb: str = "run",
        files: tuple[int, int] | None = None,
        text: str | None = None,
    ) -> None:
        self.state_dir = state_dir
        self.log = state_dir.with_name(f"{state_dir.name}.log")
        self._read: list[dict[str, Any]] = []
        self._read_bytes = 0
        command = [sys.executable, "-m", "probelet", verb, *arguments, "--state-dir", str(state_dir)]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [*(limited(*files) if files else ()), *command, "--log-format", "json"],
                stdin=None if text is None else subprocess.PIPE,
                stdout=output,
                stderr=output,
            )
        if text is not None and self.process.stdin is not None:
            with self.process.stdin as entry:
                entry.write(text.encode())

    @property
    def log_lines(self) -> list[dict[str, Any]]:
        with self.log.open("rb") as log:
            log.seek(self._read_bytes)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._read_bytes += len(whole) + len(newline)
        self._read += [json.loads(line) for line in whole.splitlines() if line.startswith(b"{")]
        return self._read

    def line(self, message: str) -> dict[str, Any]:
        """Waits for the first line of the log with this message, and returns the line."""

        def look() -> dict[str, Any] | None:
            assert self.process.poll() is None or message in self.log.read_text(), self.log.read_text()
            return next((found for found in self.log_lines if message in found["message"]), None)

        found: dict[str, Any] = wait_for(look, f'"{message}" in the log')
        return found

    @property
    def url(self) -> str:
        return str(self.line("listening")["url"]).removesuffix("/statusz")

    def verb(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return probelet(*arguments, "--state-dir", str(self.state_dir))

    def status(self) -> dict[str, dict[str, Any]]:
        """The pods of the status document by name, from the control socket, as for ``probelet status``."""
        return {pod["name"]: pod for pod in Client(self.state_dir).status()["pods"]}

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def ended(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)


Start = Callable[..., Run]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a service; by default on port 0 and in a state directory of its own."""
    runs: list[Run] = []

    def run(
        *arguments: str,
        state_dir: Path | None = None,
        verb: str = "run",
        files: tuple[int, int] | None = None,
        text: str | None = None,
    ) -> Run:
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        folder = state_dir or tmp_path / f"state-{len(runs)}"
        runs.append(Run(folder, *arguments, *listen, verb=verb, files=files, text=text))
        return runs[-1]

    yield run
    for started in runs:
        if started.process.poll() is None:
            started.process.kill()
            started.process.wait()


@pytest.fixture
async def bare_node(tmp_path: Path) -> AsyncIterator[AgentNode]:
    """A scripted runtime and API server for an agent."""
    async with agent_node(tmp_path) as bare_node:
        yield bare_node


@pytest.fixture
def marker(tmp_path: Path) -> str:
    """A word that no other process on this machine has on its command line."""
    return f"pod-of-{tmp_path.name}-{os.getpid()}"


def with_image(text: str) -> str:
    """A manifest that a CRI runtime could run."""
    return text.replace("- name: app", "- name: app\n    image: i")


def manifest(name: str, marker: str, script: str = "sleep 86400; :", grace: int = 30, probe: str = "") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: {grace}
  containers:
  - name: app
    command: [sh, -c, {json.dumps(script)}, {marker}]
{probe}
"""
