"""The page in a real browser: it is live, escapes what it shows, fits each window, and answers the keyboard."""

from collections.abc import AsyncIterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from probelet.server.address import Address, listening_socket
from probelet.server.pages import heartbeats
from probelet.server.pages.server import HttpServer

from tests.system.browser.chromium import Browser, Page
from tests.system.browser.layout import NAMES, OVERLAPS, WIDTHS
from tests.unit.server.fake_view import (
    FAILED,
    FakeIncidents,
    FakeView,
    container,
    document,
    event,
    incident,
    pod,
    probe,
)

pytestmark = pytest.mark.e2e

EVIL = "<img src=x onerror=\"document.title='evil'\"><script>document.title='evil'</script>"


@dataclass
class Shown:
    """A page, and the view behind it."""

    view: FakeView
    page: Page

    async def pods(self, *names: str) -> None:
        """Waits for exactly these pods, in this order."""
        await self.page.until(f"{NAMES} === {','.join(names)!r}")


def well(name: str, **changes: Any) -> dict[str, Any]:
    return pod(name, container(probes={"liveness": probe(), "readiness": probe(beats="." * 64)}, **changes))


def failed(name: str) -> dict[str, Any]:
    bad = probe(result="Failure", result_run=3, last=FAILED, beats="." * 40 + "!" * 24)
    return pod(name, container(ready=False, restart_count=2, probes={"liveness": probe(), "readiness": bad}))


@pytest_asyncio.fixture
async def shown(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shown]:
    monkeypatch.setattr(heartbeats, "PACE_SECONDS", 0.1)
    monkeypatch.setattr(heartbeats, "SHARE", 1)
    view = FakeView(document(well("a"), failed("b"), well("c")))
    view.kept = [event(1)]
    view.feed = FakeIncidents()
    listening = listening_socket(Address("127.0.0.1", 0))
    server = HttpServer(view, listening)
    await server.start()
    async with browser.page(listening.address.url("/")) as page:
        made = Shown(view, page)
        await made.pods("b", "a", "c")
        yield made
    await server.close()


async def test_it_is_live(shown: Shown) -> None:
    page, pods = shown.page, shown.view.document["pods"]
    assert await page.run("document.title") == "1 in trouble · node-a · probelet"
    pods[2] = failed("c")
    await shown.pods("b", "c", "a")
    pods[1]["containers"][0]["probes"]["readiness"]["beats"] = "." * 64
    await page.until("document.querySelector('.pod').querySelector('.failure') === null")
    del pods[0]
    await shown.pods("b", "c")
    found = incident()
    shown.view.document |= {"incidents": [found], "incidents_total": 1}
    await page.until("document.querySelector('#open').textContent.startsWith('shared target db:5432, for 12s')")
    assert (await page.run("document.title")).startswith("1 incident, 2 in trouble")


async def test_what_programs_and_people_write_stays_text(shown: Shown) -> None:
    view = shown.view
    # Other tests of this process show the same attempt.
    bad = deepcopy(failed(EVIL))
    bad["containers"][0] |= {"name": EVIL, "reason": EVIL}
    bad["containers"][0]["probes"]["readiness"]["last"] |= {"message": EVIL}
    view.document |= {"pods": [bad], "node": EVIL, "incidents": [incident(evidence=EVIL)], "incidents_total": 1}
    view.kept = [event(1, message=EVIL, object=EVIL, reason=EVIL)]
    page = shown.page
    await page.until("document.querySelector('#events').textContent.includes('onerror')")
    await page.run("document.querySelector('details').open = true")
    await page.until("document.querySelector('.detail').textContent.includes('onerror')")
    for place in (".who b", ".notes", "#open", "#node"):
        assert EVIL in await page.run(f"document.querySelector('{place}').textContent")
    assert await page.run("document.querySelectorAll('img, script').length") == 1
    # The title has the name of the node, as text.
    assert await page.run("document.title") != "evil"


@pytest.mark.parametrize("dark", [False, True])
async def test_nothing_is_cut_or_printed_over(shown: Shown, dark: bool) -> None:
    long = well("recommendation-engine-with-a-very-long-name-of-two-hundred-characters-" + "x" * 130)
    shown.view.document["pods"] += [long, pod("two", *(container(name, probes={"liveness": probe()}) for name in "ab"))]
    await shown.page.until("document.querySelectorAll('.pod').length === 5")
    for width in WIDTHS:
        await shown.page.show(width, 900, dark=dark)
        assert await shown.page.run(OVERLAPS) == [], width
    dark_paper = await shown.page.run("getComputedStyle(document.body).backgroundColor")
    assert dark_paper == ("rgb(16, 21, 28)" if dark else "rgb(246, 248, 250)")


async def test_the_filter_and_the_keyboard(shown: Shown) -> None:
    page = shown.page
    await page.run("document.querySelector('#filter').focus()")
    await page.call("Input.insertText", text="FAILED 3/3")
    await shown.pods("b")
    await page.run("document.querySelector('#filter').select()")
    await page.call("Input.insertText", text="c")
    await page.run("document.querySelector('#only').click()")
    await page.until("document.querySelector('#shown').textContent === '1 of 3 shown'")
    await page.run("document.querySelector('#only').click(); document.querySelector('#filter').value = ''")
    await page.run("document.querySelector('#filter').dispatchEvent(new Event('input'))")
    await shown.pods("b", "a", "c")
    # A pod that moves away keeps the focus, and stays open.
    await page.run("[...document.querySelectorAll('.pod summary')].at(-1).focus()")
    await page.call("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ")
    await page.call("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space")
    await page.until("document.querySelector('.pod details[open] .detail h3')?.textContent === 'app liveness'")
    shown.view.document["pods"][2] = failed("c")
    shown.view.document["pods"][1] = well("b")
    await shown.pods("c", "a", "b")
    assert await page.run("document.activeElement.querySelector('b').textContent") == "c"


async def said_by(page: Page) -> set[tuple[str, str | None]]:
    """Roles and names of all that a screen reader finds."""
    tree = await page.call("Accessibility.getFullAXTree")
    return {(node["role"]["value"], node.get("name", {}).get("value")) for node in tree["nodes"] if "role" in node}


async def test_what_a_screen_reader_gets(shown: Shown) -> None:
    # The browser makes this tree later than the page, by a time that no event ends.
    while ("image", "64 attempts, 24 failed, the last 24 in a row") not in (said := await said_by(shown.page)):
        pass
    assert ("image", "12 attempts, 0 failed") in said
    assert {("heading", "Pods"), ("searchbox", "Filter"), ("checkbox", "only in trouble")} <= said
    assert ("region", "Incidents") in said
    assert all(name for role, name in said if role in ("image", "button", "link", "searchbox", "region"))


async def test_a_service_that_is_gone_is_said(shown: Shown) -> None:
    page = shown.page
    await page.run("document.querySelector('#pause').click()")
    assert await page.run("document.querySelector('#pause').textContent") == "Resume"
    await page.run("window.fetch = () => Promise.reject(new Error('gone')); document.querySelector('#pause').click()")
    await page.until("!document.querySelector('#lost').hidden")
