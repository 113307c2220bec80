"""``probelet incidents --url``: the pages of a service as its client reads them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from probelet.server.address import Address, listening_socket
from probelet.server.control.command import RefusedError
from probelet.server.control.pages_client import PagesClient
from probelet.server.error import NotRunningError
from probelet.server.pages.server import HttpServer

from tests.unit.server.fake_view import FakeIncidents, FakeView, incident


class Site:
    """The pages of a view, and a client in a thread of its own."""

    def __init__(self, view: FakeView, url: str) -> None:
        self.view = view
        self.url = url
        self.seconds = 0.0

    async def ask(self) -> dict[str, Any]:
        return await asyncio.to_thread(PagesClient(self.url).incidents)

    def client(self, *steps: Any) -> PagesClient:
        """A client whose waits are steps of the test."""
        left: Iterator[Any] = iter(steps)

        def sleep(seconds: float) -> None:
            self.seconds += seconds
            next(left, lambda: None)()

        return PagesClient(self.url, sleep, lambda: self.seconds)


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    view = FakeView()
    view.feed = FakeIncidents()
    listening = listening_socket(Address("127.0.0.1", 0))
    server = HttpServer(view, listening)
    await server.start()
    yield Site(view, listening.address.url("/"))
    await server.close()


async def test_the_document(site: Site) -> None:
    site.view.feed.open.append(incident())  # type: ignore[union-attr]
    document = await site.ask()
    assert (document["schema"], [each["value"] for each in document["open"]]) == ("probelet-incidents/1", ["db:5432"])


async def test_a_service_that_looks_for_none(site: Site) -> None:
    site.view.feed = None
    with pytest.raises(RefusedError, match="incidents are not looked for here"):
        await site.ask()


async def test_a_follower_gets_what_two_documents_differ_by(site: Site) -> None:
    feed = site.view.feed
    assert feed is not None
    ended = incident(ended="2026-11-21T14:03:00.000Z")

    def set_open(*found: dict[str, Any]) -> Any:
        return lambda: feed.open.__setitem__(slice(None), found)

    def end() -> None:
        feed.open.clear()
        feed.ended = [ended]

    steps = (
        set_open(incident(), incident(id="2")),
        set_open(incident(killed=3), incident(id="2", kind="node")),
        set_open(incident(killed=3), incident(id="2", kind="node")),
        end,
    )
    feed.open.append(incident())
    client = site.client(*steps)
    found = await asyncio.to_thread(lambda: list(client.follow_incidents(seconds=8)))
    said = [(change["change"], change["incident"]["id"]) for change in found]
    assert said == [("open", "1"), ("began", "2"), ("grew", "1"), ("reclassified", "2"), ("ended", "1")]


@pytest.mark.parametrize("url", ["https://127.0.0.1:1", "127.0.0.1:1", "http://", "http://a/?x=1", ""])
def test_what_is_no_such_url(url: str) -> None:
    with pytest.raises(ValueError, match="want http://HOST:PORT"):
        PagesClient(url)


async def test_nobody_and_somebody_else(site: Site) -> None:
    listening = listening_socket(Address("127.0.0.1", 0))
    port = listening.address
    listening.close()
    with pytest.raises(NotRunningError, match="does not answer"):
        await asyncio.to_thread(PagesClient(f"http://{port}").incidents)
    with pytest.raises(NotRunningError, match="answered 404; no probelet has its pages there"):
        await asyncio.to_thread(PagesClient(f"{site.url}nowhere").incidents)
