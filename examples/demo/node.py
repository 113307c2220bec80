"""The real thing: ``probelet run`` over the example pods, asked over its control socket as the verbs do."""

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

from probelet.server.client import Client
from probelet.server.error import NotRunningError

ROOT = Path(__file__).parent.parent.parent
MANIFESTS = sorted((ROOT / "examples").glob("*/pod.yaml"))

START_SECONDS = 20
"""For the service to answer; a second on an idle machine."""
RUN_SECONDS_MAX = 90
"""The service ends by itself after this, should the demo be killed in a way that it cannot notice."""
STOP_SECONDS = 15
"""To drain: every example hears SIGTERM or has a grace of 2 s."""


class DemoError(Exception):
    """The demo cannot go on; the text is for the user."""


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
        """The events since the last call."""
        events = self._client.events(self._seq)
        self._seq = max([self._seq, *(event["seq"] for event in events)])
        return events

    def second(self) -> float:
        return time.monotonic() - self.began

    def stop(self) -> int:
        """SIGTERM, and how it ended: 0 for a clean drain."""
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
    """A service with a state directory of its own and whatever port is free; nothing is left when the block ends."""
    with tempfile.TemporaryDirectory(prefix="probelet-demo-") as folder:
        state_dir, log = Path(folder) / "state", Path(folder) / "log"
        probelet = Path(sys.executable).with_name("probelet")
        paths = [str(path.relative_to(ROOT)) for path in MANIFESTS]
        options = ["--listen", "127.0.0.1:0", "--state-dir", str(state_dir), "--duration", f"{RUN_SECONDS_MAX}s"]
        with log.open("wb") as output:
            # In the same process group: Ctrl-C reaches it as it would if it had been started by hand.
            process = subprocess.Popen(
                [str(probelet), "run", *paths, *options], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
            )
        running = Node(process, state_dir, log)
        try:
            _wait_for_answer(running)
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
    """Command lines of processes that still live with one of the pods' addresses in their environment."""
    found = []
    wanted = {f"POD_IP={address}".encode() for address in addresses}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted & set((process / "environ").read_bytes().split(b"\0")):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended meanwhile, or is not ours to look at
    return [line for line in found if line and str(os.getpid()) != line]
