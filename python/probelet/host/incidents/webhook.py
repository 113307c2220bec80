"""Tells an Alertmanager of incidents (``incidentWebhook``). It has a task of its own, so that no probe waits for it."""

import asyncio
from typing import Final

import structlog

from probelet.base.words import count
from probelet.host.engine_host import EngineHost
from probelet.host.incidents.alerts import REPEAT_MS, IncidentAlerts
from probelet.host.timers import Timers
from probelet.policy.incidents import Output
from probelet.server.post import JsonPost
from probelet.spec.text.duration import MILLISECOND, SECOND

log = structlog.get_logger()

RETRY_FIRST: Final = SECOND
RETRY_MOST: Final = 60 * SECOND
"""The wait after a request that failed, which doubles."""


class IncidentWebhook:
    """A listener of the watch of incidents; ``run`` sends. ``url`` takes POST requests of Alertmanager's API v2:
    ``http://alertmanager:9093/api/v2/alerts``."""

    def __init__(self, url: str, timers: Timers, node: str) -> None:
        self._url = url
        self._timers = timers
        self._alerts = IncidentAlerts(node)
        self._news = asyncio.Event()

    def __call__(self, output: Output) -> None:
        """Takes what the detector puts out."""
        if self._alerts.take(output, self._now_ms()):
            self._news.set()

    async def run(self) -> None:
        """Sends what is new, and every minute what is open, for ever."""
        async with JsonPost(self._url) as post:
            while True:
                await self._wait()
                await self._send(post)

    async def _wait(self) -> None:
        news = asyncio.ensure_future(self._news.wait())
        try:
            if not await self._timers.done_within(REPEAT_MS * MILLISECOND, news):
                self._alerts.repeat(self._now_ms())
        finally:
            news.cancel()
        self._news.clear()

    async def _send(self, post: JsonPost) -> None:
        """Sends all that waits. What comes meanwhile goes along with the next try."""
        delay, failed = RETRY_FIRST, False
        while alerts := self._alerts.pending():
            refused = await post.send(list(alerts.values()))
            if refused is None:
                if failed:
                    log.info("the incident webhook answers again", dropped=self._alerts.dropped)
                return
            if not refused.may_pass:
                said = count(len(alerts), "alert")
                log.warning("the incident webhook refuses alerts", error=refused.why, alerts=said)
                return
            if not failed:
                log.warning("the incident webhook takes no alerts; probelet tries again", error=refused.why)
            failed = True
            self._alerts.give_back(alerts)
            await self._timers.sleep(delay)
            delay = min(2 * delay, RETRY_MOST)

    def _now_ms(self) -> int:
        return self._timers.wall_ns() // MILLISECOND


def tell_webhook(host: EngineHost, url: str | None) -> None:
    """From now on an Alertmanager learns of the incidents of this host; nobody does without ``url``."""
    if url is not None:
        webhook = IncidentWebhook(url, host.timers, host.node)
        host.incidents.listeners.append(webhook)
        host.tasks.spawn(webhook.run())
