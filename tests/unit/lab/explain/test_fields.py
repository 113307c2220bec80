"""Bounds of known configurations, so that a reader can check them by hand."""

from probelet.lab.explain import Timing, bounds
from probelet.spec.model.probe import ProbeType

from tests.unit.lab.explain.played import container


def timing(delay: int = 0, period: int = 10, timeout: int = 1, failures: int = 3, patience: int = 0) -> Timing:
    return Timing(delay, period, timeout, failures, 1, max(failures, patience))


def seconds(probe_type: ProbeType, name: str, **timings: Timing) -> list[int]:
    span = getattr(bounds(container(timings))[probe_type], name)  # type: ignore[arg-type]
    return list(span.seconds)


def test_the_defaults_of_a_liveness_probe() -> None:
    assert seconds("liveness", "first_probe", liveness=timing()) == [0, 10]
    assert seconds("liveness", "to_kill", liveness=timing()) == [20, 31]
    assert seconds("liveness", "startup_budget", liveness=timing()) == [20, 31]


def test_the_initial_delay_may_end_a_second_early_and_is_noticed_a_period_late() -> None:
    assert seconds("liveness", "first_probe", liveness=timing(delay=30)) == [29, 40]
    assert seconds("liveness", "startup_budget", liveness=timing(delay=30)) == [49, 61]
    assert seconds("liveness", "to_kill", liveness=timing(delay=30)) == [20, 31], "it has long been over"


def test_attempts_longer_than_their_period_stretch_and_squeeze_a_row() -> None:
    slow = timing(period=5, timeout=30)
    assert seconds("liveness", "to_kill", liveness=slow) == [5, 120]
    assert seconds("liveness", "startup_budget", liveness=slow) == [10, 95], "the first attempt is on a tick"


def test_patience_is_for_a_container_that_has_not_succeeded() -> None:
    patient = timing(patience=20)
    assert seconds("liveness", "startup_budget", liveness=patient) == [190, 201]
    assert seconds("liveness", "to_kill", liveness=patient) == [20, 31]


def test_the_startup_probe_sets_the_budget_and_holds_the_other_probes_back() -> None:
    both = {"startup": timing(failures=30), "liveness": timing(period=2)}
    assert seconds("startup", "startup_budget", **both) == [290, 301]
    assert seconds("liveness", "startup_budget", **both) == [290, 301]
    assert seconds("liveness", "first_probe", **both) == [0, 303]


def test_a_readiness_probe_kills_nothing() -> None:
    found = bounds(container({"readiness": timing()}))["readiness"]
    assert (found.to_kill, found.startup_budget) == (None, None)
    assert found.to_ready is not None
    assert found.to_ready.seconds == [0, 11]
