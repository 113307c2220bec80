"""The configuration from the data of a ConfigMap."""

import pytest
from probelet.beside.guard.restart.settings.config import Config, Exclusion
from probelet.beside.guard.restart.settings.read import read_settings
from probelet.spec.model.selector import LabelSelector

SECOND = 1_000_000_000


def test_no_data_means_the_defaults() -> None:
    assert read_settings({}) == (Config(), [])


def test_every_key() -> None:
    config, lines = read_settings(
        {
            "enabled": "false",
            "detection": "false",
            "dryRun": "true",
            "rate.tokensPerMinute": "30",
            "rate.burst": "7",
            "queue.perWorkload": "4",
            "queue.random": "false",
            "workload.maxInFlight": "3",
            "breaker.ratio": "0.25",
            "breaker.minPods": "9",
            "breaker.action": "block",
            "nodeBreaker.ratio": "1",
            "nodeBreaker.minPods": "2",
            "blacklist": "- namespace: kube-system\n- labelSelector: {matchLabels: {a: b}}\n",
            "backoff.base": "15s",
            "backoff.max": "10m",
            "backoff.reset": "1h",
            "maxRestartsPerHour": "5",
            "crr.ttlSeconds": "60",
            "crr.activeDeadlineSeconds": "90",
            "crr.gracePeriodSeconds": "1",
            "crr.unreadyGracePeriodSeconds": "3",
            "staleAfter": "2m",
            "budget.missing": "deny",
            "budget.unready": "ifHealthyBudget",
            "budget.reserve.pub": "false",
            "budget.reserve.pdb": "true",
            "annotatePods": "true\n",
            "agent.unreadyAfter": "5m",
        }
    )
    assert lines == []
    assert config == Config(
        enabled=False,
        detection=False,
        dry_run=True,
        tokens_per_minute=30,
        burst=7,
        queue_per_workload=4,
        queue_random=False,
        max_in_flight=3,
        breaker_ratio=0.25,
        breaker_min_pods=9,
        breaker_action="block",
        node_breaker_ratio=1.0,
        node_breaker_min_pods=2,
        blacklist=(
            Exclusion(namespace="kube-system"),
            Exclusion(label_selector=LabelSelector(match_labels={"a": "b"})),
        ),
        backoff_base_ns=15 * SECOND,
        backoff_max_ns=600 * SECOND,
        backoff_reset_ns=3600 * SECOND,
        max_restarts_per_hour=5,
        ttl_seconds=60,
        active_deadline_seconds=90,
        grace_seconds=1,
        unready_grace_seconds=3,
        stale_after_ns=120 * SECOND,
        budget_missing="deny",
        budget_unready="ifHealthyBudget",
        reserve_pub=False,
        reserve_pdb=True,
        annotate_pods=True,
        unready_after_ns=300 * SECOND,
    )


@pytest.mark.parametrize("key", ["crr.gracePeriodSeconds", "crr.unreadyGracePeriodSeconds"])
def test_null_is_the_default_of_the_grace_periods(key: str) -> None:
    assert read_settings({key: "null"}) == (Config(), [])
    assert read_settings({"staleAfter": "auto", "crr.activeDeadlineSeconds": "auto"}) == (Config(), [])


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("enabled", "yes", 'enabled: Invalid value: "yes": must be true or false'),
        ("rate.tokensPerMinute", "0", "must be from 1 to 60000"),
        ("rate.tokensPerMinute", "-1", "must be from 1 to 60000"),
        ("rate.burst", "1e3", "must be from 1 to 60000"),
        ("rate.burst", "9" * 5000, "must be from 1 to 60000"),
        ("queue.perWorkload", "0", "must be from 1 to 100000"),
        ("workload.maxInFlight", "101%", "must be at most 100%"),
        ("workload.maxInFlight", "x%", "a valid percent string must be a numeric string"),
        ("workload.maxInFlight", "-1", "must be greater than or equal to 0"),
        ("breaker.ratio", "0", "must be above 0 and at most 1"),
        ("breaker.ratio", "nan", "must be above 0 and at most 1"),
        ("breaker.action", "restart", "must be one of serialize, block, off"),
        ("budget.unready", "AlwaysAllow", "must be one of alwaysAllow, ifHealthyBudget"),
        ("backoff.base", "5s", "must be at least 10s"),
        ("backoff.base", "10", "time: missing unit in duration"),
        ("crr.activeDeadlineSeconds", "2", "must be from 3"),
        ("blacklist", "namespace: x", "must be a list"),
        ("blacklist", "- namspace: x", "unknown field"),
        ("blacklist", "- [", "not YAML"),
        ("blacklist", "- namespace: 5", "must be a string"),
    ],
)
def test_a_mistake_refuses_the_whole_configuration(key: str, text: str, expected: str) -> None:
    """R-18 for the back-off: it is never shorter than ten seconds."""
    config, [line] = read_settings({key: text, "enabled": "true"} if key != "enabled" else {key: text})
    assert config is None
    assert line.startswith(f"{key}: Invalid value: ")
    assert expected in line
    assert len(line) < 400


def test_the_longest_delay_is_not_below_the_first() -> None:
    assert read_settings({"backoff.base": "30s", "backoff.max": "20s"}) == (
        None,
        ["backoff.max: must not be below backoff.base"],
    )


def test_an_unknown_key_is_said_and_ignored() -> None:
    assert read_settings({"enabeld": "false"}) == (Config(), ["enabeld: unknown key, ignored"])


@pytest.mark.parametrize(
    ("key", "most"),
    [("breaker.minPods", 2_147_483_647), ("workload.maxInFlight", 2_147_483_647), ("maxRestartsPerHour", 3_600)],
)
def test_a_number_has_a_largest_value(key: str, most: int) -> None:
    config, lines = read_settings({key: str(most)})
    assert (config is not None, lines) == (True, [])
    assert read_settings({key: str(most + 1)})[0] is None
