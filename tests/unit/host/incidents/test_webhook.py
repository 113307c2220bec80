"""Alerts on their way to an Alertmanager, over a real socket; time passes in the test's hands."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from msgspec.structs import replace
from probelet.host.incidents.alerts import ENDS_AFTER_MS, REPEAT_MS, IncidentAlerts
from probelet.host.incidents.webhook import RETRY_MOST, IncidentWebhook
from probelet.host.timers import Timers
from probelet.policy.incidents import Began, Ended, Grew, Incident, Reclassified
from probelet.server.address import Address, listening_socket

from tests.unit.host.incidents.test_watch import START_MS, Clock

INCIDENT = Incident("1", "shared", START_MS, shared="target", value="db:5432", evidence="3 of 3 pods that ask db:5432")
SECOND = 1_000_000_000


def over(incident: Incident) -> Ended:
    return Ended(replace(incident, ended_ms=START_MS + 30_000))


class HandTimers(Timers):
    """Timers whose waits end at once if they are back-offs, and only by ``repeat`` if they are the minute's."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.slept: list[int] = []
        self.slept_thrice = asyncio.Event()
        self.repeat = asyncio.Event()

    async def sleep(self, ns: int) -> None:
        self.slept.append(ns)
        if len(self.slept) == 3:
            self.slept_thrice.set()
        await asyncio.sleep(0)

    async def done_within(self, ns: int, awaited: "asyncio.Future[Any]") -> bool:
        minute = asyncio.ensure_future(self.repeat.wait())
        await asyncio.wait([awaited, minute], return_when=asyncio.FIRST_COMPLETED)
        minute.cancel()
        self.repeat.clear()
        return awaited.done()


class Alertmanager:
    """A server that notes the alerts that it gets. It answers with ``statuses``, and then with 200."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.told: asyncio.Queue[list[dict[str, Any]]] = asyncio.Queue()
        self.content_type = ""
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        self.content_type = request.content_type
        self.told.put_nowait(await request.json())
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200, headers={"Location": "/elsewhere"})


def app_of(manager: Alertmanager) -> web.Application:
    app = web.Application()
    app.add_routes([web.post("/api/v2/alerts", manager.take)])
    return app


@pytest_asyncio.fixture
async def manager() -> AsyncIterator[Alertmanager]:
    made = Alertmanager()
    runner = web.AppRunner(app_of(made))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/v2/alerts"
    yield made
    await runner.cleanup()


class Sender:
    """A webhook that runs."""

    def __init__(self, url: str) -> None:
        self.timers = HandTimers(Clock())
        self.webhook = IncidentWebhook(url, self.timers, "n1")
        self.task = asyncio.create_task(self.webhook.run())


@pytest_asyncio.fixture
async def sender(manager: Alertmanager) -> AsyncIterator[Sender]:
    made = Sender(manager.url)
    yield made
    made.task.cancel()
    await asyncio.gather(made.task, return_exceptions=True)


async def test_beginning_and_end(manager: Alertmanager, sender: Sender) -> None:
    sender.webhook(Began(INCIDENT))
    [alert] = await manager.told.get()
    assert manager.content_type == "application/json"
    assert alert["labels"] == {
        "alertname": "ProbeletIncident",
        "severity": "warning",
        "node": "n1",
        "incident": "1",
        "kind": "shared",
        "shared": "target",
        "value": "db:5432",
    }
    assert alert["annotations"]["summary"] == "3 of 3 pods that ask db:5432"
    assert (alert["startsAt"], alert["endsAt"]) == ("2023-11-14T22:13:20.000Z", "2023-11-14T22:17:20.000Z")
    sender.webhook(over(INCIDENT))
    [ended] = await manager.told.get()
    assert (ended["labels"], ended["endsAt"]) == (alert["labels"], "2023-11-14T22:13:50.000Z")


async def test_an_open_incident_is_told_again_as_it_is_then(manager: Alertmanager, sender: Sender) -> None:
    sender.webhook(Began(INCIDENT))
    await manager.told.get()
    sender.webhook(Grew(replace(INCIDENT, evidence="9 of 9")))
    sender.timers.repeat.set()
    [alert] = await manager.told.get()
    assert alert["annotations"]["evidence"] == "9 of 9"


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_what_is_not_taken_is_sent_again_after_a_while(
    manager: Alertmanager, sender: Sender, status: int
) -> None:
    manager.statuses = [status] * 9
    sender.webhook(Began(INCIDENT))
    told = [await manager.told.get() for _ in range(10)]
    assert all(each == told[0] for each in told)
    assert sender.timers.slept == [min(2**n * SECOND, RETRY_MOST) for n in range(9)]


@pytest.mark.parametrize("status", [302, 400, 404])
async def test_what_is_refused_is_not_sent_again(manager: Alertmanager, sender: Sender, status: int) -> None:
    manager.statuses = [status]
    sender.webhook(Began(INCIDENT))
    await manager.told.get()
    sender.webhook(over(INCIDENT))
    [alert] = await manager.told.get()
    assert alert["endsAt"] == "2023-11-14T22:13:50.000Z"
    assert sender.timers.slept == []


async def test_a_server_that_is_not_there_is_tried_until_it_is(manager: Alertmanager) -> None:
    listening = listening_socket(Address("127.0.0.1", 0))
    url = listening.address.url("/api/v2/alerts")
    listening.close()
    sender = Sender(url)
    sender.webhook(Began(INCIDENT))
    await sender.timers.slept_thrice.wait()
    sender.webhook(over(INCIDENT))
    runner = web.AppRunner(app_of(manager))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", int(url.rpartition(":")[2].partition("/")[0])).start()
    # Its first news is the newest: the incident is over.
    [alert] = await manager.told.get()
    assert alert["endsAt"] == "2023-11-14T22:13:50.000Z"
    sender.task.cancel()
    await runner.cleanup()


async def test_a_listener_never_waits(manager: Alertmanager, sender: Sender) -> None:
    called: Awaitable[None] | None = sender.webhook(Began(INCIDENT))
    assert called is None


def test_an_incident_that_is_another_ends_one_alert_and_begins_the_next() -> None:
    alerts = IncidentAlerts("n1")
    alerts.take(Began(INCIDENT), START_MS)
    alerts.pending()
    other = replace(INCIDENT, kind="node", shared="node", value="n1")
    assert alerts.take(Reclassified(other), START_MS + 5_000)
    ended, began = alerts.pending().values()
    assert (ended["labels"]["kind"], ended["endsAt"]) == ("shared", "2023-11-14T22:13:25.000Z")
    assert (began["labels"]["kind"], began["endsAt"]) == ("node", "2023-11-14T22:17:25.000Z")
    assert ENDS_AFTER_MS == 4 * REPEAT_MS


def test_alerts_that_nobody_takes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("probelet.host.incidents.alerts.PENDING_MAX", 3)
    alerts = IncidentAlerts("n1")
    for number in range(5):
        alerts.take(Began(replace(INCIDENT, id=str(number))), START_MS)
    waiting = alerts.pending()
    assert [alert["labels"]["incident"] for alert in waiting.values()] == ["2", "3", "4"]
    alerts.take(Began(replace(INCIDENT, id="9")), START_MS)
    alerts.give_back(waiting)
    assert [alert["labels"]["incident"] for alert in alerts.pending().values()] == ["3", "4", "9"]
    assert alerts.dropped == 3
