"""What ``probelet bench`` computes, without measuring anything."""

import json
from types import SimpleNamespace
from typing import cast

import pytest
from probelet._rust import Engine
from probelet.lab.bench.disturbance import Disturbance
from probelet.lab.bench.document import report
from probelet.lab.bench.load import Load
from probelet.lab.bench.measure import measure
from probelet.lab.bench.place import Faulty, Place, PlaceError
from probelet.lab.bench.pods import node, uid
from probelet.lab.bench.reading import Reading
from probelet.lab.bench.target import OwnTarget

CLOSED = Place.parse("127.1.0.0/9:9")


def test_workers_have_an_address_each_until_the_network_ends() -> None:
    place = Place.parse("127.0.0.254/24:80")
    assert [place.address(worker) for worker in range(3)] == ["127.0.0.254", "127.0.0.255", "127.0.0.254"]
    assert Place.parse("localhost:1").address(7) == "127.0.0.1"
    assert Place.parse("127.1.0.0/9:80").address(65_536) == "127.2.0.0"


@pytest.mark.parametrize("text", ["", "1.2.3.4", "1.2.3.4:0", "1.2.3.4:65536", "host:80", "[::1]:80", "1.2.3.4/33:80"])
def test_a_malformed_place_is_refused(text: str) -> None:
    with pytest.raises(PlaceError, match=r"want HOST:PORT|IPv4 address"):
        Place.parse(text)


def test_the_given_share_of_workers_is_faulty() -> None:
    faulty = Faulty.parse("127.1.0.0/9:9=5")
    assert sum(map(faulty.has, range(1000))) == 50
    load = Load("http", faulty=faulty)
    assert {load.where(Place.parse("127.1.0.0/9:80"), worker).port for worker in (4, 5)} == {9, 80}
    with pytest.raises(PlaceError, match="0 to 100"):
        Faulty.parse("1.2.3.4:80=101")


@pytest.mark.parametrize("handler", ["http", "https", "tcp", "grpc", "exec"])
def test_the_engine_accepts_pods_of_every_handler(handler: str) -> None:
    engine = Engine()
    try:
        for name, pod, facts in node(Load(handler, 3, period=36_000), CLOSED):  # type: ignore[arg-type]
            engine.define_pod(pod)
            engine.sync_pod(name, facts)
        kind = {"http": "httpGet", "https": "httpGet", "tcp": "tcpSocket"}.get(handler, handler)
        assert [state["handler"] for state in json.loads(engine.probe_states())] == [kind] * 3
    finally:
        engine.close()


def test_extra_pods_live_for_one_turn_and_containers_restart_in_turn() -> None:
    engine, load = Engine(), Load("tcp", 2, period=36_000, churn=30, restarts=30)
    try:
        for name, pod, facts in node(load, CLOSED):
            engine.define_pod(pod)
            engine.sync_pod(name, facts)
        disturbance = Disturbance(engine, load, CLOSED)
        disturbance.turn(0.1)
        disturbance.turn(0.1)
        assert [number for number in range(2, 9) if engine.status(uid(number))] == [5, 6, 7]
        ids = [json.loads(engine.status(uid(number)) or b"")["containers"][0]["id"] for number in range(2)]
        assert [container.removeprefix("process://")[:8] for container in ids] == ["00000003", "00000003"]
    finally:
        engine.close()


def test_a_quantile_lies_within_its_bucket() -> None:
    earlier = Reading(probes=10, failures=0, lateness={0.001: 10, 0.005: 10, float("inf"): 10})
    later = Reading(probes=110, failures=1, lateness={0.001: 60, 0.005: 109, float("inf"): 110})
    between = later - earlier
    assert (between.probes, between.failures) == (100, 1)
    assert between.lateness_ms(0.5) == pytest.approx(1.0)
    assert between.lateness_ms(0.25) == pytest.approx(0.5)
    assert between.lateness_ms(0.99) == pytest.approx(5.0)
    assert between.lateness_ms(1.0) == pytest.approx(5.0)  # the last bucket has no upper bound
    assert Reading(0, 0, {0.001: 0, float("inf"): 0}).lateness_ms(0.99) == 0


def test_a_report_fits_a_terminal_even_without_a_probe() -> None:
    seen = {
        "scenario": "https",
        "workers": 262_144,
        "period_seconds": 36_000,
        "seconds": 3600.0,
        "probes": 1_234_567_890,
    }
    seen |= {"probes_per_second": 123_456.7, "cpu_us_per_probe": None, "false_failures": 1_000_000}
    seen |= {"lateness_ms": {"p50": 1234.56, "p99": 12345.67, "max": 99999.99}, "bytes_per_worker": 100_000}
    seen |= {"add_ms": 12345.0, "remove_ms": 12345.0, "wakeups_per_second": 100_000.0}
    lines = report(seen | {"lateness_stamped_by": "target"}, "target 127.100.100.100/9:65535")
    assert max(map(len, lines)) <= 100
    assert "  CPU            no probe was due" in lines


@pytest.mark.parametrize(("samples", "by"), [(0, "prober"), (9, "target")])
def test_a_target_with_too_few_samples_gives_no_lateness(samples: int, by: str) -> None:
    late = {"p50": 1.0, "p99": 2.0, "max": 3.0}
    target = SimpleNamespace(forget=lambda: None, statistics=lambda: {"samples": samples, "lateness_ms": late})
    moment = Load("exec", workers=1, duration=0.01, warm=0.01)
    seen = measure(moment, CLOSED, lambda _: None, cast(OwnTarget, target))
    assert seen["lateness_stamped_by"] == by
    assert (seen["lateness_ms"] == late) == (by == "target")
