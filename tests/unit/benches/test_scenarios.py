"""Scenarios are data: the file decides the command line of an engine."""

from pathlib import Path
from typing import Any

import pytest

from benches.__main__ import START_SECONDS, WORKER_SECONDS, length, seconds
from benches.engines import ENGINES
from benches.measure.row import bottleneck, command, row, saturated
from benches.measure.scenario import HANDLERS, Scenario, ScenarioError, Suite, read

SUITE = Suite("bench", rounds=1, duration=5, warm=2)


def scenario(**more: Any) -> Scenario:
    return Scenario(
        **({"name": "s-10", "group": "s", "title": "S", "handler": "http", "workers": 10, "engines": ()} | more)
    )


def test_the_suites_of_the_project_are_read() -> None:
    suites = read()
    assert suites.keys() == {"bench", "full", "smoke"}
    assert {name for suite in suites.values() for one in suite.scenarios for name in one.engines} == ENGINES.keys()
    assert {one.handler for one in suites["bench"].scenarios} == set(HANDLERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'group = "a"\nhandler = "udp"\nworkers = [1]\nengines = []\ntitle = ""',
            "scenario a: handler: udp: want one of",
        ),
        (
            'group = "a"\nhandler = "tcp"\nworkers = [0]\nengines = []\ntitle = ""',
            "scenario a: workers: 0: must be above",
        ),
        (
            'group = "a"\nhandler = "tcp"\nworkers = [1]\nengines = []\ntitle = ""\nrate = 1',
            "scenario a: rate: unknown",
        ),
        ('group = "a"\nhandler = "tcp"\nworkers = [1, 1]\nengines = []\ntitle = ""', "scenario a-1: there are two"),
    ],
)
def test_a_mistake_in_a_scenario_is_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "scenarios.toml"
    file.write_text(f"[suite]\n[[scenario]]\n{text}\n")
    with pytest.raises(ScenarioError, match=message):
        read(file)


def test_a_period_grows_with_the_workers_where_the_rate_is_given(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.toml"
    table = '[suite]\n[[scenario]]\ngroup = "a"\nhandler = "tcp"\nengines = []\ntitle = ""\nprobes_per_second = 100\n'
    file.write_text(f"{table}workers = [100, 3000]\n[suite.one]\nrounds = 1\nduration = 1\nwarm = 1\n")
    assert [(one.name, one.period) for one in read(file)["one"].scenarios] == [("a-100", 1), ("a-3000", 30)]
    file.write_text(f"{table}workers = [150]\n")
    with pytest.raises(ScenarioError, match="workers: 150: must be a multiple of probes_per_second"):
        read(file)


def test_a_suite_that_names_no_scenario_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.toml"
    file.write_text('scenario = []\n[suite.one]\nrounds = 1\nduration = 1\nwarm = 1\nscenarios = ["gone-1"]\n')
    with pytest.raises(ScenarioError, match="suite one: there is no scenario gone-1"):
        read(file)


def test_an_engines_command_has_the_whole_load() -> None:
    from benches.measure.scenario import Faulty

    asked = command(
        ENGINES["probelet"],
        scenario(faulty=Faulty("hang", 5), burst=True, churn=7, restarts=3, warm=12),
        SUITE,
        "127.1.0.0/9:80",
        "127.1.0.0/9:81",
    )
    assert asked[asked.index("http") :] == [
        *("http", "--workers", "10", "--period", "1s", "--warm", "12s", "--duration", "5s"),
        *("--target", "127.1.0.0/9:80", "--faulty", "127.1.0.0/9:81=5", "--churn", "7", "--restarts", "3", "--burst"),
        *("-o", "json"),
    ]


def test_a_small_suite_limits_workers_warm_up_duration_and_churn() -> None:
    small = Suite("smoke", rounds=1, duration=1, warm=1, workers=20)
    asked = command(ENGINES["kubelet"], scenario(churn=1000, warm=12, duration=60), small, None, None)
    assert asked[2:] == ["--workers", "20", "--period", "1s", "--warm", "1s", "--duration", "1s", "--churn", "20"]


def test_a_handler_may_have_a_program_of_its_own() -> None:
    asked = command(ENGINES["probelet"], scenario(handler="cri"), SUITE, "/run/a.sock", None)
    assert asked[1:4] == ["-m", "benches.peers.cri", "probelet"]
    assert (asked[4], asked[-2:]) == ("cri", ["--target", "/run/a.sock"])


def test_the_length_of_a_suite_is_known_before_it_begins() -> None:
    every = [scenario(engines=("epoll", "probelet")), scenario(engines=("epoll",), rounds=1, warm=0, duration=0)]
    turns = [3 * 2, 1]
    expected = turns[0] * 7 + sum(turns) * (START_SECONDS + 10 * WORKER_SECONDS)
    suite = Suite("s", rounds=3, duration=5, warm=2, scenarios=tuple(every))
    assert seconds(suite, list(ENGINES)) == pytest.approx(expected)
    assert length(125) == "2 min 5 s"


def test_a_shortfall_within_chance_is_no_saturation() -> None:
    due = {"workers": 10_000, "expected_per_second": 100.0, "false_failures": 0}
    assert not saturated(due | {"probes": 750, "probes_per_second": 93.75})
    assert saturated(due | {"probes": 650, "probes_per_second": 81.25})
    assert saturated(due | {"workers": 100, "probes": 750, "probes_per_second": 93.75})
    assert saturated(due | {"probes": 0, "probes_per_second": 0.0})


SEEN = {"probes": 50, "probes_per_second": 10.0, "cpu_us_per_probe": 100.0, "false_failures": 0}
LATE = {"p50": 1.0, "p99": 2.0, "max": 3.0}


def test_the_targets_lateness_replaces_the_engines_own() -> None:
    stamped = {"samples": 9, "lateness_ms": LATE | {"p90": 1.5}}
    measured = row("probelet", scenario(), SUITE, SEEN | {"lateness_ms": {"p50": 0.0, "p99": 0.0, "max": 0.0}}, stamped)
    assert (measured["lateness_ms"], measured["first_byte_lateness_ms"]) == (LATE, None)
    later = {"p50": 2.0, "p90": 3.0, "p99": 4.0, "max": 5.0}
    sent = row("probelet", scenario(), SUITE, SEEN, stamped | {"first_byte_lateness_ms": later})
    assert sent["first_byte_lateness_ms"] == {"p50": 2.0, "p99": 4.0, "max": 5.0}
    assert row("probelet", scenario(), SUITE, SEEN | {"lateness_ms": LATE}, None)["lateness_ms"] == LATE
    idle = row("probelet", scenario(period=36000), SUITE, SEEN, stamped)
    assert (idle["lateness_ms"], idle["cpu_us_per_probe"]) == (None, None)
    few = stamped | {"samples": 0}
    assert row("kubelet", scenario(), SUITE, SEEN, few)["lateness_ms"] is None
    assert row("epoll", scenario(), SUITE, SEEN | {"lateness_ms": LATE}, few)["lateness_ms"] == LATE
    assert measured["cores"] == 0.001


@pytest.mark.parametrize(
    ("made", "failures", "busy", "message"),
    [
        (10.0, 0, 0.5, None),
        (9.0, 0, 0.5, "the prober, with 50%"),
        (10.0, 1, 0.5, "the prober, with 50%"),
        (10.0, 0, 1.0, "cores are busy"),
    ],
)
def test_a_row_at_its_limit_names_the_bottleneck(made: float, failures: int, busy: float, message: str | None) -> None:
    measured = row("probelet", scenario(), SUITE, SEEN | {"probes_per_second": made, "false_failures": failures}, None)
    measured |= {"busy": busy, "target_cores": 0.2}
    assert saturated(measured) == (made < 9.7 or failures > 0)
    limit = bottleneck(measured)
    assert limit is None if message is None else limit is not None and message in limit
