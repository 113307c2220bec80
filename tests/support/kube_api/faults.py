"""What goes wrong with requests, as a test says."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Answer:
    """The request gets this answer and is not carried out: a Status, or ``body`` as it is."""

    code: int = 500
    message: str = "the test says so"
    reason: str = ""
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Drop:
    """The connection closes without an answer; with ``carried_out``, after the request has had its effect."""

    carried_out: bool = False


@dataclass
class Delay:
    """The request waits until ``over`` is set."""

    over: asyncio.Event


Fault = Answer | Drop | Delay


@dataclass
class _Rule:
    fault: Fault
    verb: str
    plural: str
    subresource: str | None
    left: int | None
    skip: int


class Faults:
    """Faults for requests by verb (get list watch create update patch apply delete, ``*``) and plural; first come,
    first served."""

    def __init__(self) -> None:
        self._rules: list[_Rule] = []

    def add(
        self,
        fault: Fault,
        verb: str = "*",
        plural: str = "*",
        *,
        subresource: str | None = None,
        times: int | None = 1,
        skip: int = 0,
    ) -> None:
        """After ``skip`` requests that match, the next ``times`` have the fault; with None all do until ``clear``."""
        self._rules.append(_Rule(fault, verb, plural, subresource, times, skip))

    def clear(self) -> None:
        """No more faults."""
        self._rules.clear()

    def take(self, verb: str, plural: str, subresource: str) -> Fault | None:
        """The fault of a request that comes now."""
        for rule in self._rules:
            if rule.verb not in ("*", verb) or rule.plural not in ("*", plural):
                continue
            if rule.subresource is not None and rule.subresource != subresource:
                continue
            if rule.skip:
                rule.skip -= 1
                continue
            if rule.left is not None:
                rule.left -= 1
                if not rule.left:
                    self._rules.remove(rule)
            return rule.fault
        return None
