"""A real browser without a window: Debian's chromium, driven over its DevTools protocol."""

import base64
import itertools
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.system.containerd.machine import until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
"""The program; None where there is no browser."""

_FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
)


class Page:
    """One page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._events: set[str] = set()

    async def call(self, method: str, **params: Any) -> Any:
        """A command of the protocol and its result."""
        number = next(self._ids)
        await self._socket.send_json({"id": number, "method": method, "params": params})
        while True:
            found = await self._receive()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    async def event(self, method: str) -> None:
        """Waits for the first event of this kind."""
        while method not in self._events:
            await self._receive()

    async def _receive(self) -> dict[str, Any]:
        found: dict[str, Any] = await self._socket.receive_json()
        self._events.add(found.get("method", ""))
        return found

    async def run(self, script: str) -> Any:
        """The value of an expression on the page, once its promise is kept."""
        found = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, condition: str) -> None:
        """Waits for a condition, which the page looks at after each change of it."""
        await self.run(
            f"new Promise((done) => {{ const look = () => {{ if ({condition}) {{ watch.disconnect(); done(); }} }};"
            "const watch = new MutationObserver(look); watch.observe(document, { subtree: true, childList: true,"
            "attributes: true, characterData: true }); look(); })"
        )

    async def show(self, width: int, height: int, *, dark: bool = False) -> None:
        """The size of the window, and the person's choice of colours."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **metrics)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[feature])
        # The second frame begins after the first was painted in the new size.
        await self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def picture(self, path: Path) -> None:
        """What the window shows, as a PNG."""
        found = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))


class Browser:
    """A running browser. Each test has a page of its own: a start of the browser takes a second of a core."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is for its profile and for what it writes."""
        assert CHROMIUM is not None
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
        self._log = folder / "log"
        with self._log.open("wb") as log:
            command = [CHROMIUM, *_FLAGS, *sandbox, f"--user-data-dir={folder / 'profile'}", "about:blank"]
            self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        until(self._address, "the browser's address")

    def _address(self) -> str:
        assert self._process.poll() is None, self._log.read_text()
        found = re.search(r"DevTools listening on ws://([^/]+)/", self._log.read_text(errors="replace"))
        return f"http://{found[1]}" if found else ""

    @asynccontextmanager
    async def page(self, url: str) -> AsyncIterator[Page]:
        """A new page with this address."""
        base = self._address()
        async with aiohttp.ClientSession() as session:
            async with session.put(f"{base}/json/new?about:blank") as answer:
                target = await answer.json(content_type=None)
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                try:
                    await page.call("Page.enable")
                    await page.call("Page.bringToFront")
                    await page.call("Page.navigate", url=url)
                    await page.event("Page.loadEventFired")
                    yield page
                finally:
                    await page.call("Page.close")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
