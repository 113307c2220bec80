"""The page of a controller in a real browser: the same document as a node's, with nodes as rows."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from probelet.server.address import Address, listening_socket
from probelet.server.pages import heartbeats
from probelet.server.pages.nodes import NodesServer

from tests.system.browser.chromium import Browser, Page
from tests.system.browser.layout import NAMES, OVERLAPS, WIDTHS
from tests.system.browser.nodes import FakeNodes, node
from tests.unit.server.fake_view import incident

pytestmark = pytest.mark.e2e

EVIL = "<img src=x onerror=\"document.title='evil'\">"
NOTES = (f"default/web-{number} app: Failed (status): 503" for number in range(3))


@dataclass
class Shown:
    """A page, and the nodes behind it."""

    nodes: FakeNodes
    page: Page


@pytest_asyncio.fixture
async def shown(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shown]:
    monkeypatch.setattr(heartbeats, "PACE_SECONDS", 0.1)
    monkeypatch.setattr(heartbeats, "SHARE", 1)
    nodes = FakeNodes(node("node-a"), node("node-b", *NOTES, failed=3, beats="." * 50 + "!" * 14), node("node-c"))
    listening = listening_socket(Address("127.0.0.1", 0))
    server = NodesServer(nodes, listening)
    await server.start()
    async with browser.page(listening.address.url("/")) as page:
        await page.until(f"{NAMES} === 'node-b,node-a,node-c'")
        yield Shown(nodes, page)
    await server.close()


async def test_nodes_are_rows_and_incidents_are_on_top(shown: Shown) -> None:
    page = shown.page
    assert await page.run("document.querySelector('#counts').textContent") == "3 nodes, 2 well, 1 in trouble"
    assert await page.run("document.querySelector('#pods-head').textContent") == "Nodes"
    assert "no other attempts" in await page.run("document.querySelector('#about').textContent")
    legends = "[...document.querySelectorAll('.legend:not([hidden])')].map((found) => found.dataset.of).join()"
    assert await page.run(legends) == "node"
    assert await page.run("document.title") == "1 in trouble · cluster · probelet"
    shown.nodes.incidents.open = [incident()]
    await page.until("document.querySelector('#open').textContent.startsWith('shared target db:5432, for 12s')")
    assert (await page.run("document.title")).startswith("1 incident, ")
    tree = await page.call("Accessibility.getFullAXTree")
    said = {(found["role"]["value"], found.get("name", {}).get("value")) for found in tree["nodes"] if "role" in found}
    assert ("image", "64 times ten seconds, failed in 14, the last 14 in a row") in said
    assert ("heading", "Nodes") in said


async def test_a_node_shows_its_probes_and_the_worst_comes_first(shown: Shown) -> None:
    page = shown.page
    await page.run("document.querySelector('details').open = true")
    await page.until("document.querySelector('.detail li')?.textContent.includes('Failed: status')")
    assert "default/web-0 app: 503" in await page.run("document.querySelector('.detail').textContent")
    shown.nodes.rows[2] = node("node-c", EVIL, failed=1)
    shown.nodes.about = ["This controller stands by."]
    await page.until(f"{NAMES} === 'node-b,node-c,node-a'")
    await page.until("document.querySelector('#about').textContent === 'This controller stands by.'")
    assert await page.run("document.querySelectorAll('img').length") == 0
    shown.nodes.rows.clear()
    await page.until("document.querySelector('#shown').textContent === 'No node has probes of enhanced liveness.'")


@pytest.mark.parametrize("dark", [False, True])
async def test_nothing_is_cut_or_printed_over(shown: Shown, dark: bool) -> None:
    shown.nodes.rows.append(node("ip-10-0-0-1.a-region-with-a-long-name.compute.internal." + "x" * 60))
    shown.nodes.incidents.open = [incident()]
    await shown.page.until("document.querySelectorAll('.pod').length === 4 && !!document.querySelector('#open li')")
    for width in WIDTHS:
        await shown.page.show(width, 900, dark=dark)
        assert await shown.page.run(OVERLAPS) == [], width
