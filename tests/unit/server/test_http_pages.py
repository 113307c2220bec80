import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest
import pytest_asyncio
from probelet.server.address import Address, listening_socket
from probelet.server.pages.server import ROUTES, HttpServer

from tests.unit.server.fake_view import SITUATIONS, FakeView

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@dataclass
class Site:
    view: FakeView
    url: str
    session: aiohttp.ClientSession

    async def get(self, path: str, accept: str = "*/*") -> tuple[int, str, str]:
        async with self.session.get(self.url + path, headers={"Accept": accept}, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Content-Type", ""), await answer.text()


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    view = FakeView()
    listening = listening_socket(Address("127.0.0.1", 0))
    server = HttpServer(view, listening)
    await server.start()
    async with aiohttp.ClientSession() as session:
        yield Site(view, listening.address.url(""), session)
    await server.close()


async def test_port_zero_becomes_the_port_that_was_picked(site: Site) -> None:
    assert int(site.url.rpartition(":")[2]) > 0


@pytest.mark.parametrize("path", ["/metrics", "/metrics/pods", "/metrics/probes"])
async def test_metrics_are_the_prometheus_text_format(site: Site, path: str) -> None:
    status, content_type, text = await site.get(path)
    view = site.view
    expected = {"/metrics": view.metrics, "/metrics/pods": view.metrics_pods, "/metrics/probes": view.metrics_probes}
    assert (status, text.encode()[: len(expected[path]())]) == (200, expected[path]())
    assert content_type.startswith("text/plain; version=0.0.4")


async def test_healthz_does_not_depend_on_being_ready(site: Site) -> None:
    site.view.why_not_ready = "the runtime does not answer"
    assert await site.get("/healthz") == (200, "text/plain; charset=utf-8", "ok\n")


async def test_readyz_says_why_not(site: Site) -> None:
    assert (await site.get("/readyz"))[::2] == (200, "ok\n")
    site.view.why_not_ready = "the runtime does not answer"
    assert (await site.get("/readyz"))[::2] == (503, "the runtime does not answer\n")


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
async def test_a_program_gets_the_status_document(site: Site, accept: str) -> None:
    status, content_type, text = await site.get("/statusz", accept)
    assert (status, content_type) == (200, "application/json")
    assert json.loads(text) == SITUATIONS


async def test_a_browser_that_asks_for_the_status_is_led_to_the_page(site: Site) -> None:
    async with site.session.get(site.url + "/statusz", headers={"Accept": BROWSER}, allow_redirects=False) as answer:
        # Behind a proxy the page has another path.
        assert (answer.status, answer.headers["Location"]) == (302, "./")
    async with site.session.get(site.url + "/statusz", headers={"Accept": BROWSER}) as answer:
        assert (answer.status, answer.content_type, answer.url.path) == (200, "text/html", "/")


async def test_a_part_of_the_status_is_json_for_a_browser_too(site: Site) -> None:
    status, content_type, text = await site.get("/statusz?history=64&pod=default/web", BROWSER)
    assert (status, content_type, site.view.history) == (200, "application/json", 64)
    assert [pod["name"] for pod in json.loads(text)["pods"]] == ["web"]
    assert json.loads((await site.get("/statusz?pod=default/none"))[2])["pods"] == []
    await site.get("/statusz?history=3")
    assert site.view.history == 3


@pytest.mark.parametrize("history", ["65", "-1", "x", "9" * 5_000, "\u0661"])
async def test_a_history_that_cannot_be_is_refused(site: Site, history: str) -> None:
    assert (await site.get(f"/statusz?history={history}"))[::2] == (400, "want history from 0 to 64")


async def test_the_page_forbids_everything_but_its_own_inline_blocks(site: Site) -> None:
    async with site.session.get(site.url + "/", headers={"Accept": BROWSER}) as answer:
        policy, text = answer.headers["Content-Security-Policy"], await answer.text()
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert text.startswith("<!doctype html>")


async def test_the_data_of_the_page(site: Site) -> None:
    status, content_type, text = await site.get("/heartbeats")
    assert (status, content_type) == (200, "application/json")
    found = json.loads(text)
    assert len(found["rows"]) == len(SITUATIONS["pods"])
    assert json.loads((await site.get(f"/heartbeats?since={found['version']}"))[2])["rows"] == []
    assert (await site.get("/heartbeats?since=x"))[0] == 400


async def test_an_unknown_path_is_not_found(site: Site) -> None:
    assert (await site.get("/debug"))[0] == 404


@pytest.mark.parametrize("path", ROUTES)
async def test_nothing_can_be_changed_over_http(site: Site, path: str) -> None:
    async with site.session.post(site.url + path) as answer:
        assert answer.status == 405


async def test_configz_is_the_configuration_document(site: Site) -> None:
    status, content_type, text = await site.get("/configz")
    assert (status, content_type) == (200, "application/json")
    assert json.loads(text) == site.view.configz()


@pytest.mark.parametrize("path", ["/retry", "/reset"])
async def test_nothing_on_the_http_port_changes_anything(site: Site, path: str) -> None:
    for method in ("POST", "GET", "PUT"):
        async with site.session.request(method, f"{site.url}{path}?pod=crasher") as answer:
            assert answer.status == 404
    assert site.view.commands == []


async def test_requests_are_counted_under_the_kubelets_names(site: Site) -> None:
    await site.get("/healthz")
    await site.get("/healthz")
    await site.get("/no/such/page")
    _, _, text = await site.get("/metrics")
    labels = 'method="GET",path="{}",server_type="readonly",long_running="false"'
    assert f"kubelet_http_requests_total{{{labels.format('healthz')}}} 2" in text
    assert f"kubelet_http_requests_total{{{labels.format('other')}}} 1" in text
    assert f"kubelet_http_inflight_requests{{{labels.format('metrics')}}} 1" in text
    assert f"kubelet_http_requests_duration_seconds_count{{{labels.format('healthz')}}} 2" in text
