"""Runs ``probelet run`` with the example pods, and queries it over its control socket, as the verbs do."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from probelet.server.control.client import Client
from probelet.server.error import NotRunningError

ROOT = Path(__file__).parent.parent.parent
MANIFESTS = sorted((ROOT / "examples").glob("*/pod.yaml"))

START_SECONDS = 20
"""The service must answer within this time; on an idle machine it takes a second."""
RUN_SECONDS_MAX = 90
"""After this time the service ends by itself, in case the demo is killed without a chance to stop it."""
STOP_SECONDS = 15
"""The service must drain within this time: every example reacts to SIGTERM or has a grace of 2 s."""


class DemoError(Exception):
    """Raised when the demo cannot go on; its text is for the user."""


class Node:
    """A running service and its client."""

    def __init__(self, process: subprocess.Popen[bytes], state_dir: Path, log: Path) -> None:
        self.process = process
        self.began = time.monotonic()
        self.state_dir = state_dir
        self.log = log
        self._client = Client(state_dir)
        self._seq = 0

    def status(self) -> dict[str, Any]:
        try:
            return self._client.status()
        except NotRunningError as error:
            raise DemoError(f"probelet run does not answer: {error}\n{self.last_words()}") from error

    def events(self) -> list[dict[str, Any]]:
        """Returns the events since the last call."""
        events = self._client.events(self._seq)
        self._seq = max([self._seq, *(event["seq"] for event in events)])
        return events

    def second(self) -> float:
        return time.monotonic() - self.began

    def stop(self) -> int:
        """Sends SIGTERM and returns the exit code: 0 for a clean drain."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:])


@contextmanager
def node() -> Iterator[Node]:
    """Runs a service with its own state directory on a free port; nothing is left when the block ends."""
    with tempfile.TemporaryDirectory(prefix="probelet-demo-") as folder:
        state_dir, log = Path(folder) / "state", Path(folder) / "log"
        probelet = Path(sys.executable).with_name("probelet")
        paths = [str(path.relative_to(ROOT)) for path in MANIFESTS]
        options = ["--listen", "127.0.0.1:0", "--state-dir", str(state_dir), "--duration", f"{RUN_SECONDS_MAX}s"]
        with log.open("wb") as output:
            # The service is in the same process group, so Ctrl-C reaches it as if a user had started it.
            process = subprocess.Popen(
                [str(probelet), "run", *paths, *options], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
            )
        running = Node(process, state_dir, log)
        try:
            _wait_for_answer(running)
            # A busy machine takes a while to start it: the seconds of the demo count from the first answer.
            running.began = time.monotonic()
            yield running
        finally:
            running.stop()


def _wait_for_answer(running: Node) -> None:
    client, deadline = Client(running.state_dir), time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if running.process.poll() is not None:
            raise DemoError(f"probelet run ended with exit code {running.process.returncode}\n{running.last_words()}")
        try:
            client.status()
        except NotRunningError:
            time.sleep(0.05)
        else:
            return
    raise DemoError(f"probelet run did not answer within {START_SECONDS} s\n{running.last_words()}")


def left_behind(addresses: set[str]) -> list[str]:
    """Returns the command lines of running processes with one of the pods' addresses in their environment."""
    found = []
    wanted = {f"POD_IP={address}".encode() for address in addresses}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted & set((process / "environ").read_bytes().split(b"\0")):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # the process ended meanwhile, or belongs to another user
    return [line for line in found if line and str(os.getpid()) != line]
