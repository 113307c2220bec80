"""Reads the configuration from the data of a ConfigMap; every value is a text, as ConfigMaps have them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from probelet.beside.guard.restart.settings.config import Config, Exclusion
from probelet.spec.model.int_or_string import IntOrString, parse_int_or_string
from probelet.spec.read.decode import decode_node
from probelet.spec.read.tree import TreeError, documents
from probelet.spec.rules.scaled import scaled
from probelet.spec.text.duration import DurationError, parse_duration
from probelet.spec.text.problem import Problem, go_value, shorten

_INT32_MAX: Final = 2**31 - 1
_TOKENS_MAX: Final = 60_000
"""A thousand restarts a second: more than any API server takes."""
_SECONDS_MAX: Final = 365 * 24 * 3600


def read_settings(data: Mapping[str, str]) -> tuple[Config | None, list[str]]:
    """The configuration, and a line for each mistake and for each key that is not known.

    A mistake gives None: the caller keeps the last good configuration, and without one restarts nothing. Unknown keys
    are ignored.
    """
    values: dict[str, Any] = {}
    lines: list[str] = []
    has_mistake = False
    for key, text in data.items():
        if key not in _KEYS:
            lines.append(f"{key}: unknown key, ignored")
            continue
        name, parse = _KEYS[key]
        try:
            values[name] = parse(text.strip())
        except ValueError as error:
            has_mistake = True
            lines.append(f"{key}: Invalid value: {go_value(shorten(text))}: {error}")
    config = replace(Config(), **values)
    if config.backoff_max_ns < config.backoff_base_ns:
        has_mistake = True
        lines.append("backoff.max: must not be below backoff.base")
    return None if has_mistake else config, lines


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def _int(least: int, most: int = _INT32_MAX) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= most):
            raise ValueError(f"must be from {least} to {most}")
        return int(text)

    return parse


def _or_none(parse: Callable[[str], int], *words: str) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        return None if text in words else parse(text)

    return read


def _ratio(text: str) -> float:
    message = "must be above 0 and at most 1"
    try:
        ratio = float(text)
    except ValueError:
        raise ValueError(message) from None
    if not 0 < ratio <= 1:
        raise ValueError(message)
    return ratio


def _share(text: str) -> IntOrString:
    value = parse_int_or_string(text)
    if scaled(value, 100, default=0, up=True) > (_INT32_MAX if isinstance(value, int) else 100):
        raise ValueError("must be at most 100%")
    return value


def _duration(least: str) -> Callable[[str], int]:
    shortest = parse_duration(least)

    def parse(text: str) -> int:
        try:
            duration = parse_duration(text)
        except DurationError as error:
            raise ValueError(str(error)) from None
        if duration < shortest:
            raise ValueError(f"must be at least {least}")
        return duration

    return parse


def _choice(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return parse


def _blacklist(text: str) -> tuple[Exclusion, ...]:
    try:
        root = next((document.root for document in documents(text)), None)
    except TreeError as error:
        raise ValueError(str(error)) from None
    if root is None:
        return ()
    if not isinstance(root.value, list):
        raise ValueError("must be a list")
    problems: list[Problem] = []
    items = tuple(decode_node(item, Exclusion, None, problems, f"[{index}]") for index, item in enumerate(root.value))
    # An exclusion with a misspelt field would exclude other pods than its author means.
    if problems:
        raise ValueError(str(problems[0]))
    return items


_SECONDS: Final = _int(0, _SECONDS_MAX)
_KEYS: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "enabled": ("enabled", _bool),
    "detection": ("detection", _bool),
    "dryRun": ("dry_run", _bool),
    "rate.tokensPerMinute": ("tokens_per_minute", _int(1, _TOKENS_MAX)),
    "rate.burst": ("burst", _int(1, _TOKENS_MAX)),
    "queue.perWorkload": ("queue_per_workload", _int(1, 100_000)),
    "queue.random": ("queue_random", _bool),
    "workload.maxInFlight": ("max_in_flight", _share),
    "breaker.ratio": ("breaker_ratio", _ratio),
    "breaker.minPods": ("breaker_min_pods", _int(1)),
    "breaker.action": ("breaker_action", _choice("serialize", "block", "off")),
    "breaker.incidents": ("breaker_incidents", _bool),
    "nodeBreaker.ratio": ("node_breaker_ratio", _ratio),
    "nodeBreaker.minPods": ("node_breaker_min_pods", _int(1)),
    "blacklist": ("blacklist", _blacklist),
    "backoff.base": ("backoff_base_ns", _duration("10s")),
    "backoff.max": ("backoff_max_ns", _duration("10s")),
    "backoff.reset": ("backoff_reset_ns", _duration("1s")),
    "maxRestartsPerHour": ("max_restarts_per_hour", _int(0, 3600)),
    "crr.ttlSeconds": ("ttl_seconds", _SECONDS),
    "crr.activeDeadlineSeconds": ("active_deadline_seconds", _or_none(_int(3, _SECONDS_MAX), "auto")),
    "crr.gracePeriodSeconds": ("grace_seconds", _or_none(_SECONDS, "null", "")),
    "crr.unreadyGracePeriodSeconds": ("unready_grace_seconds", _or_none(_SECONDS, "null", "")),
    "staleAfter": ("stale_after_ns", _or_none(_duration("1s"), "auto")),
    "budget.missing": ("budget_missing", _choice("allow", "deny")),
    "budget.unready": ("budget_unready", _choice("alwaysAllow", "ifHealthyBudget")),
    "budget.reserve.pub": ("reserve_pub", _bool),
    "budget.reserve.pdb": ("reserve_pdb", _bool),
    "annotatePods": ("annotate_pods", _bool),
    # An agent's Lease holds for 40 s.
    "agent.unreadyAfter": ("unready_after_ns", _or_none(_duration("1m"), "off")),
}
