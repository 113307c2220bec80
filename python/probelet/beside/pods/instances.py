"""The container instances that the message of the condition names, for an agent whose journal is lost."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

_READY: Final = "instances with ready status"
_STARTED: Final = "instances that have started"
_PART: Final = re.compile(rf"(?:^|; )({_READY}|{_STARTED}): \[([^\]]*)\]")


class Instances(msgspec.Struct, frozen=True):
    """Container IDs, ``type://id``, by the name of their container. ``started`` has instances that are not ready."""

    ready: Mapping[str, str]
    started: Mapping[str, str]

    def has_started(self, container: str, container_id: str) -> bool:
        """Whether this instance of a container has passed its startup probe."""
        return self.is_ready(container, container_id) or self.started.get(container) == container_id

    def is_ready(self, container: str, container_id: str) -> bool:
        """Whether this instance of a container has passed its readiness probe."""
        return self.ready.get(container) == container_id

    @property
    def text(self) -> str:
        """The part of the message that names them; empty if there are none."""
        parts = ((_READY, self.ready), (_STARTED, self.started))
        return "; ".join(f"{title}: [{_listed(instances)}]" for title, instances in parts if instances)


NO_INSTANCES: Final = Instances({}, {})


def named_in(message: str) -> Instances:
    """The instances that a condition's message names. Text that is none of ours names nobody."""
    found = {title: dict(_pairs(items)) for title, items in _PART.findall(message)}
    return Instances(found.get(_READY, {}), found.get(_STARTED, {}))


def _listed(instances: Mapping[str, str]) -> str:
    return " ".join(f"{container}={container_id}" for container, container_id in instances.items())


def _pairs(items: str) -> Iterator[tuple[str, str]]:
    for item in items.split():
        container, _, container_id = item.partition("=")
        yield container, container_id
