"""The part of a case's ``expect`` that a run decides, and whether it was seen before."""

from collections.abc import Collection
from typing import Any

ANSWER = ("result", "class", "output", "output_base64", "error", "connections", "received")


def answer(expect: dict[str, Any]) -> dict[str, Any]:
    """The part of ``expect`` that a run decides, as far as it is compared."""
    told = {key: value for key, value in expect.items() if key in ANSWER}
    if "received" in told:
        told["received"] = {name: [_compared(row) for row in rows or ()] for name, rows in told["received"].items()}
    return told


def merged(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The case as it was, if its answer is one that was seen before. What has ever varied may vary again."""
    known, seen = before.get("expect"), now["expect"]
    if known is None:
        return now
    varies = varying(known, seen)
    kept = known if is_known(known, seen) else seen
    return {**now, "expect": {**kept, **({"varies": varies} if varies else {})}}


def varying(known: dict[str, Any], seen: dict[str, Any]) -> list[str]:
    """The parts that varied among the runs of either."""
    before = known.get("varies", ())
    return [*before, *(name for name in seen.get("varies", ()) if name not in before)]


def is_known(known: dict[str, Any], seen: dict[str, Any]) -> bool:
    """Whether ``seen`` is the answer of ``known`` or of one of its variants, apart from the parts that vary."""
    varies = varying(known, seen)
    answers = [answer(known | variant) for variant in [{}, *known.get("variants", ())]]
    return any(_without(answer(seen), varies) == _without(one, varies) for one in answers)


def _without(told: dict[str, Any], varies: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in varies}


def _compared(row: dict[str, Any]) -> Any:
    return row.get("bytes") or [frame for frame in row.get("h2", ()) if frame["type"] in ("HEADERS", "DATA")]
