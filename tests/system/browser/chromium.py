"""A real browser without a window: Debian's chromium, driven over its DevTools protocol."""

import asyncio
import base64
import itertools
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

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

    async def picture(self, path: Path) -> None:
        """What the window shows, as a PNG."""
        found = await self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))


@asynccontextmanager
async def browser(url: str, directory: Path) -> AsyncIterator[Page]:
    """A browser with this page; ``directory`` is for its profile."""
    assert CHROMIUM is not None
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *_FLAGS,
        *sandbox,
        f"--user-data-dir={directory}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        while not (found := re.search(rb"DevTools listening on ws://([^/]+)/", await process.stderr.readline())):
            assert process.returncode is None
        # A full pipe would stop the browser.
        drain = asyncio.create_task(process.stderr.read())
        base = f"http://{found[1].decode()}"
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{base}/json/list") as answer:
                [target] = [each for each in await answer.json(content_type=None) if each["type"] == "page"]
            async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                await page.call("Page.enable")
                await page.call("Page.navigate", url=url)
                await page.event("Page.loadEventFired")
                yield page
                await page.call("Browser.close")
        await process.wait()
        await drain
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
