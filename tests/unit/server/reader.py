"""A reader of the page's data, as its script is one."""

import json
from datetime import datetime
from typing import Any, Final

from probelet.server.pages.heartbeats import PACE_SECONDS, Heartbeats
from probelet.server.pages.source import PodRows

from tests.unit.server import fake_view
from tests.unit.server.fake_view import FakeView

AS_OF: Final = datetime.fromisoformat(fake_view.AS_OF)


class Reader:
    """Asks ``pages``, or pages of its own whose clock moves on by itself."""

    def __init__(self, view: FakeView, pages: Heartbeats | None = None) -> None:
        self.version = 0
        self._now = 0.0
        self._pages = pages or Heartbeats(PodRows(view), self._later, lambda: 0.0)

    async def read(self) -> dict[str, Any]:
        """What is new."""
        found: dict[str, Any] = json.loads(await self._pages.since(self.version))
        self.version = found["version"]
        return found

    def _later(self) -> float:
        self._now += PACE_SECONDS
        return self._now
