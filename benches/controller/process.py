"""A controller in a process of its own, as its pages and the system show it."""

import asyncio
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from benches.agent.__main__ import figures
from tests.system.admission.api_server import ApiServer

PATIENCE_SECONDS: Final = 900.0
LOOK_SECONDS: Final = 0.2


class Controller:
    """``probelet controller`` beside an API server."""

    def __init__(self, api: ApiServer) -> None:
        self._kubeconfig = api.kubeconfig
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._pages = f"127.0.0.1:{free.getsockname()[1]}"
        self._process: asyncio.subprocess.Process

    async def start(self) -> None:
        flags = ("--kubeconfig", str(self._kubeconfig), "--trust-changes", "--listen-health", self._pages)
        program = (sys.executable, "-m", "probelet", "controller", "--log-level", "warning")
        self._process = await asyncio.create_subprocess_exec(*program, *flags)

    async def until(self, true: Callable[[str], bool], page: str) -> None:
        """Wait until a page says so. A page that answers with an error, or not at all, says nothing."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not true(await asyncio.to_thread(self._read, page)):
            assert time.monotonic() < end, f"{page} of the controller does not come to it"
            await asyncio.sleep(LOOK_SECONDS)

    def _read(self, page: str) -> str:
        context = ssl.create_default_context()
        # Its certificate is its own, as for a kubelet's probe.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urlopen(f"https://{self._pages}{page}", context=context, timeout=10) as answer:
                return str(answer.read().decode())
        except (HTTPError, URLError, OSError):
            return ""

    def figures(self) -> tuple[float, float]:
        """Processor seconds and resident MiB."""
        return figures(self._process.pid)

    def kill(self) -> None:
        """The end by -9: it gives no Lease back."""
        self._process.send_signal(signal.SIGKILL)
