"""The requests under way: each is a task of its own, and none outlives the leader."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """Starts requests in the task group of the leader; before ``begin`` none can start."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None

    def begin(self, group: asyncio.TaskGroup) -> None:
        """Use that group."""
        self._group = group

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a request. What it raises ends the leader."""
        assert self._group is not None, "requests begin with the leader"
        self._group.create_task(work)
