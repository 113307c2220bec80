"""Rules about what a recording shows over time: from where on each has something to say."""

from pathlib import Path

import pytest
from probelet.lint.engine import lint
from probelet.lint.observed.container import ObservedClients, ObservedContainer, ObservedProbe, Run, Start
from probelet.lint.observed.outage import HOUR, Outage, is_flapping
from probelet.lint.settings import Settings

from tests.unit.lint.observed.test_observations import WEB, found

DAY = 24 * HOUR


def outages(count: int, *, every: float = 600, lasting: float = 30, cause: str = "status") -> tuple[Outage, ...]:
    return tuple(Outage(every * number, every * number + lasting, cause) for number in range(count))


@pytest.mark.parametrize(
    ("found_outages", "span", "flaps"),
    [
        (outages(1), HOUR, False),
        (outages(2), HOUR, True),
        ((*outages(1), Outage(3000, None, "")), HOUR, False),
        (outages(2), 60, True),
        (outages(2), 2 * HOUR, False),
        (outages(4), 2 * HOUR, True),
    ],
)
def test_flapping_is_more_than_three_changes_an_hour(
    found_outages: tuple[Outage, ...], span: float, flaps: bool
) -> None:
    assert is_flapping(found_outages, span) is flaps


def readiness(pod: str, *found_outages: Outage, calm: int | None = None) -> ObservedContainer:
    probe = ObservedProbe(runs=360, outages=found_outages, calm=calm)
    return ObservedContainer("default", pod, "web", {"readiness": probe}, span=HOUR)


@pytest.mark.parametrize(("calm", "rules"), [(7, {"PO105": "warning"}), (None, {"PO105": "warning"}), (3, {})])
def test_po105_is_silent_once_the_manifest_has_the_threshold(
    tmp_path: Path, calm: int | None, rules: dict[str, str]
) -> None:
    assert found(tmp_path, readiness("web", *outages(3), calm=calm)) == rules


@pytest.mark.parametrize(
    ("second", "rules"),
    [
        (Outage(1010, 1090, "refused"), {"PO104": "warning"}),
        (Outage(1011, 1090, "refused"), {}),
        (Outage(1000, 1090, "status"), {}),
    ],
)
def test_po104_wants_one_cause_within_one_period(tmp_path: Path, second: Outage, rules: dict[str, str]) -> None:
    rows = [readiness("web-0", Outage(1000, 1060, "refused")), readiness("web-1", second)]
    assert found(tmp_path, *rows) == rules


def test_po104_does_not_count_two_sources_of_one_pod_twice(tmp_path: Path) -> None:
    row = readiness("web", Outage(1000, 1060, "refused"))
    assert found(tmp_path, row, row) == {}


def starts(*seconds: float, every: float = DAY) -> ObservedContainer:
    found_starts = tuple(Start(every * number, took) for number, took in enumerate(seconds))
    return ObservedContainer("default", "web", "web", starts=found_starts)


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        # The budget is 50 s: 14 s and 1 s a day more reach it in 36 days.
        (starts(7, 8, 9, 10, 11, 12, 13, 14), {"PO102": "warning"}),
        (starts(8, 9, 10, 11, 12, 13, 14), {}),
        (starts(14, 13, 12, 11, 10, 9, 8, 7), {}),
        (starts(7, 7.1, 7.2, 7.3, 7.4, 7.5, 7.6, 7.7), {}),
        (starts(7, 14, 8, 13, 9, 12, 10, 11), {}),
        # Starts within an hour say nothing about a day.
        (starts(7, 8, 9, 10, 11, 12, 13, 14, every=400), {}),
        # One start of somebody who tries something out.
        (ObservedContainer("default", "web", "web", span=60, starts=(Start(0, 41),)), {}),
        (ObservedContainer("default", "web", "web", span=60, starts=(Start(0, 41), Start(50, 9))), {"PO102": "error"}),
        (ObservedContainer("default", "web", "web", span=HOUR, starts=(Start(0, 41),)), {"PO102": "error"}),
    ],
)
def test_po102_sees_starts_that_become_longer(tmp_path: Path, row: ObservedContainer, rules: dict[str, str]) -> None:
    assert found(tmp_path, row) == rules


def runs(count: int, *, lasting: float, wait: float, killed: bool) -> ObservedContainer:
    step = lasting + wait
    lives = tuple(Run(step * number, step * number + lasting, killed) for number in range(count))
    return ObservedContainer("default", "web", "web", restarts=count - 1, span=count * step, lives=lives)


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        (runs(3, lasting=100, wait=0, killed=True), {"PO107": "warning"}),
        (runs(3, lasting=100, wait=0, killed=False), {}),
        (runs(4, lasting=100, wait=100, killed=False), {"PO110": "warning"}),
        (runs(4, lasting=9 * HOUR, wait=0, killed=False), {}),
        (ObservedContainer("default", "web", "web", restarts=40, span=3 * DAY), {"PO110": "warning"}),
        (ObservedContainer("default", "web", "web", restarts=40), {}),
    ],
    ids=str,
)
def test_restarts_that_mend_nothing_and_restarts_that_cost(
    tmp_path: Path, row: ObservedContainer, rules: dict[str, str]
) -> None:
    assert found(tmp_path, row) == rules


@pytest.mark.parametrize(
    ("failures", "span", "rules"),
    [(26, 0, {}), (27, 0, {"PO111": "info"}), (38, HOUR, {}), (39, HOUR, {"PO111": "info"})],
)
def test_po111_counts_what_the_limit_cannot_let_through(
    tmp_path: Path, failures: int, span: float, rules: dict[str, str]
) -> None:
    probe = ObservedProbe(runs=1000, failures=failures)
    assert found(tmp_path, ObservedContainer("default", "web", "web", {"liveness": probe}, span=span)) == rules


def test_po108_names_timeouts_of_a_starved_prober(tmp_path: Path) -> None:
    probe = ObservedProbe(runs=100, failures=3, starved=1, lateness=9)
    assert found(tmp_path, ObservedContainer("default", "web", "web", {"liveness": probe})) == {"PO108": "info"}


@pytest.mark.parametrize(
    ("slow", "requests", "rules"),
    [(1.0, 100, {"PO113": "info"}), (1.0, 99, {}), (0.9, 100, {})],
)
def test_po113_compares_clients_with_the_slowest_probe(
    tmp_path: Path, slow: float, requests: int, rules: dict[str, str]
) -> None:
    probe = ObservedProbe(runs=900, slow=0.1, attempts=900)
    row = ObservedContainer("default", "web", "web", {"liveness": probe})
    clients = ObservedClients("default", "web", "", slow, requests)
    assert found(tmp_path, row, clients) == rules


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (ObservedContainer("default", "web", "web", restarts=3, span=60), "restarted 3 times in 60 s, once in 20 s"),
        (
            ObservedContainer("default", "web", "web", restarts=40, span=3 * DAY),
            "restarted 40 times in 3 d, once in 108 min",
        ),
        (starts(41.123456), "a start has taken 41 s, which is 82% of the 50 s"),
    ],
    ids=str,
)
def test_spans_are_written_as_a_person_writes_them(tmp_path: Path, row: ObservedContainer, words: str) -> None:
    (tmp_path / "web.yaml").write_text(WEB)
    report = lint([tmp_path / "web.yaml"], Settings(observed=(row,)))
    (message,) = [finding.message for finding in report.findings if finding.rule.startswith("PO")]
    assert words in message
