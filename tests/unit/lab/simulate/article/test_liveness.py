"""The liveness half of the article: status servers, cascades, start-ups that become slower, and regular restarts.

Each outcome also holds with any number of the scenario a fifth lower or higher.
"""

from probelet.lab.picture.document import VerdictRow

from tests.unit.lab.simulate.article.service import deployment, holds, scenario, verdict, whole
from tests.unit.lab.simulate.variations import variations

LOAD = """
duration: 15m
containers: [{startup: 20s, latency: 50ms, concurrency: 16, queue: 1000}]
traffic: [{rate: 600, timeout: 10s, slo: 1s}]
faults: [{type: traffic-step, factor: 2.6, at: 1m, lasts: 3m}]
"""
"""Three replicas serve 960 requests a second; for three minutes 1,560 come."""


def cascades(result: VerdictRow) -> bool:
    return result["kills"] > 3 and result["longest_outage_seconds"] > 0


def test_a_short_liveness_timeout_turns_load_into_restarts_and_more_load() -> None:
    assert holds(deployment("liveness"), scenario(LOAD), cascades) == []


def test_without_the_probe_the_availability_is_better() -> None:
    for name, file in variations(scenario(LOAD)):
        killed, left_alone = verdict(deployment("liveness"), file), verdict(deployment(), file)
        assert left_alone["requests"]["lost"] < killed["requests"]["lost"] * 2 / 3, name
        assert left_alone["recovered"], name


def test_a_timeout_like_that_of_clients_and_a_forgiving_threshold_guard_against_it() -> None:
    manifests = deployment("liveness timeoutSeconds=5 failureThreshold=6")
    assert holds(manifests, scenario(LOAD), lambda result: not result["kills"] and result["recovered"]) == []


def test_one_who_waits_longer_than_readiness_is_not_killed_in_a_short_overload() -> None:
    """Readiness sheds the load first, and the queue is worked off before liveness decides."""
    for name, file in variations(scenario(LOAD.replace("lasts: 3m", "lasts: 60s"))):
        equal = verdict(deployment("liveness", "readiness"), file)
        slower = verdict(deployment("liveness failureThreshold=9", "readiness"), file)
        assert equal["kills"] > 0, name
        assert (slower["kills"], slower["recovered"]) == (0, True), name


STUCK = """
duration: 15m
dependencies: {stock: {latency: 10ms}}
containers:
- {startup: 20s, latency: 50ms, concurrency: 16, queue: 500, probes: PROBES, asks: {requests: [stock]}}
traffic: [{rate: 300, timeout: 5s, slo: 1s}]
faults: [{type: dependency-slow, dependency: stock, latency: 30s, at: 1m, lasts: 5m}]
"""
"""All workers wait for a dependency that only requests ask, so the service answers nobody in time."""


def unnoticed(result: VerdictRow) -> bool:
    return not result["kills"] and result["longest_outage_seconds"] > 180


def noticed(result: VerdictRow) -> bool:
    return result["kills"] > 0 and result["longest_outage_seconds"] > 180


def test_a_status_server_of_its_own_does_not_notice_that_the_service_is_stuck() -> None:
    assert holds(deployment("liveness"), scenario(STUCK.replace("PROBES", "apart")), unnoticed) == []


def test_a_probe_that_exercises_the_service_as_clients_do_notices() -> None:
    assert holds(deployment("liveness"), scenario(STUCK.replace("PROBES", "queued")), noticed) == []


DRIFT = """
duration: 8h
containers: [{startup: {always: 45s, perDay: 460s}, latency: 20ms}]
traffic: [{rate: 10, timeout: 5s, slo: 1s}]
faults: [{type: exit, at: 6h, code: 137}]
"""
"""The start takes 45 s at first and 160 s after six hours, when everything restarts: a week at 16 s a day."""


def never_starts(result: VerdictRow) -> bool:
    return not result["recovered"] and result["kills"] >= 20


def starts_again(result: VerdictRow) -> bool:
    return result["recovered"] and not result["kills"]


def test_a_start_that_has_become_longer_than_the_initial_delay_never_ends() -> None:
    """The probe waits for 80 to 91 s. With a fifth less drift or time the start takes 137 s, which is still longer."""
    assert holds(deployment("liveness initialDelaySeconds=60"), scenario(DRIFT), never_starts) == []


def test_a_conservative_initial_delay_survives_the_drift() -> None:
    """It waits for 320 s; a fifth more drift or time makes the start 183 s long."""
    assert holds(deployment("liveness initialDelaySeconds=300"), scenario(DRIFT), starts_again) == []


ROLLOUTS = ", ".join(f"{{type: rollout, at: {hour}h}}" for hour in range(1, 6))


def shows_without_an_outage(result: VerdictRow) -> bool:
    return result["kills"] > 0 and not result["longest_outage_seconds"] and not result["requests"]["lost"]


def test_regular_restarts_show_the_drift_while_the_old_replicas_still_serve() -> None:
    """With a rollout each hour the first start that is too long is that of one new replica; the others stay."""
    file = scenario(DRIFT.replace("{type: exit, at: 6h, code: 137}", ROLLOUTS))
    readiness = "readiness initialDelaySeconds=5"
    manifests = deployment("liveness initialDelaySeconds=60", readiness)
    assert holds(manifests, file, shows_without_an_outage) == []


def test_load_within_the_capacity_kills_nobody() -> None:
    """The guard of this file: the cascade is the load's, not the model's."""
    assert whole(verdict(deployment("liveness", "readiness"), scenario(LOAD.replace("factor: 2.6", "factor: 1.2"))))
