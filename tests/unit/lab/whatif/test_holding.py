"""Which liveness kills would have waited: on a recording of a real ``probelet run`` of ``examples/hold-kills`` without
``holdKills``, whose database answered too slowly from 22:14:10 on."""

from datetime import datetime
from typing import Any

import pytest
from probelet.daemon.asked_hosts import asked_hosts
from probelet.lab.recording import Kill, Life, Numbers, RecordedContainer, RecordedPod, RecordedTurn, Recording, Turned
from probelet.lab.whatif import Holding, whatif
from probelet.lab.whatif.holding.play import HeldPlay
from probelet.lab.whatif.holding.subjects import known_pod
from probelet.policy.node.kill_gate import HoldOptions
from probelet.spec.annotation.hold_kills import HoldChoice
from probelet.spec.read.load import load
from probelet.spec.text.duration import MINUTE, SECOND

from tests.support.paths import ROOT

SHARED = ROOT / "examples" / "whatif" / "shared.segment"
MANIFESTS = load((ROOT / "examples" / "hold-kills",)).pods


@pytest.fixture(scope="module")
def shared() -> Recording:
    return Recording(SHARED)


def held(
    recording: Recording,
    choice: HoldChoice = "shared",
    *,
    most_ns: int = 5 * MINUTE,
    described: bool = True,
    **more: Any,
) -> Any:
    manifests = MANIFESTS if described else []
    return whatif(recording, {}, holding=Holding(HoldOptions(choice, most_ns), manifests, asked_hosts), **more)


def of_pod(document: Any, name: str) -> list[Any]:
    return [row for row in document["restarts"] if row["pod"] == f"default/{name}"]


def apart(one: str, other: str) -> float:
    return round((datetime.fromisoformat(other) - datetime.fromisoformat(one)).total_seconds(), 1)


def test_one_restart_is_the_trial_and_the_others_wait(shared: Recording) -> None:
    document = held(shared)
    [incident] = document["hold"]["incidents"]
    assert (incident["kind"], incident["shared"], incident["value"]) == ("shared", "target", "127.0.0.1:5432")
    assert (document["hold"]["described"], document["check"]["reproduced"]) == (5, True)
    first = {name: of_pod(document, name)[0] for name in ("orders", "cart", "web")}
    assert (first["orders"]["outcome"], first["orders"]["waits_for"]) == ("same", None)
    for name in ("cart", "web"):
        assert (first[name]["outcome"], first[name]["waits_for"]) == ("avoided", "shared target 127.0.0.1:5432")
    # Half a minute after the trial the next container that asks is one.
    assert (apart(first["cart"]["really"], first["cart"]["if_failing"]), first["cart"]["if_healthy"]) == (30.0, None)


def test_a_pod_that_chooses_off_in_its_manifest_is_killed_as_it_was(shared: Recording) -> None:
    assert {row["outcome"] for row in of_pod(held(shared), "batch")} == {"same"}
    assert "avoided" in {row["outcome"] for row in of_pod(held(shared, described=False), "batch")}


def test_without_manifests_the_incident_has_no_name(shared: Recording) -> None:
    document = held(shared, described=False)
    [incident] = document["hold"]["incidents"]
    assert (incident["kind"], incident["value"], document["hold"]["described"]) == ("shared", "", 0)


def test_a_restart_of_a_container_that_would_not_have_been_there_is_avoided(shared: Recording) -> None:
    second = of_pod(held(shared), "web")[1]
    assert (second["outcome"], second["waits_for"], second["unknown_after"]) == ("avoided", None, None)


def test_kills_wait_for_the_prober_alone_with_that_choice(shared: Recording) -> None:
    assert {row["outcome"] for row in held(shared, "prober")["restarts"]} == {"same"}


def test_no_kill_waits_for_longer_than_it_may(shared: Recording) -> None:
    document = held(shared, most_ns=10 * SECOND, assume="failing")
    late = [row for row in document["restarts"] if row["waits_for"]]
    assert late
    for row in late:
        assert (row["outcome"], row["unknown_after"]) == ("later", None)
        assert 0 < apart(row["really"], row["instead"]) <= 10


def test_an_assumed_recovery_ends_every_wait(shared: Recording) -> None:
    for row in held(shared, assume="healthy")["restarts"]:
        if row["waits_for"]:
            assert (row["outcome"], row["instead"], row["unknown_after"]) == ("avoided", None, None)


@pytest.mark.parametrize(
    ("name", "workload", "revision"),
    [
        ("web-7d9f8b6c5d-x2xkz", "Pods/web-*", "7d9f8b6c5d"),
        ("agent-x2xkz", "Pods/agent-*", ""),
        ("db-0", "Pods/db-*", ""),
        ("web", "", ""),
        ("web-main", "", ""),
    ],
)
def test_a_name_shows_the_workload(name: str, workload: str, revision: str) -> None:
    known = known_pod(recorded(name, ()), "node-a", (), asked_hosts)
    assert ({subject.workload for subject in known.subjects}, known.revision) == ({workload}, revision)
    assert {subject.image for subject in known.subjects} == {"registry.example/web:1"}


def recorded(name: str, kills: tuple[Kill, ...], ended_us: int | None = None) -> RecordedPod:
    numbers = Numbers(
        initial_delay_seconds=0,
        timeout_seconds=1,
        period_seconds=5,
        success_threshold=1,
        failure_threshold=2,
        initialization_failure_threshold=0,
    )
    container = RecordedContainer("app", ["registry.example/web:1"], {"liveness": numbers}, {})
    life = Life(f"{name}-1", "app", 0, ended_us, 1)
    return RecordedPod(name, "default", name, 0, 3, [container], [life], [], list(kills))


def turned(*ends: tuple[int, bool], gone_us: int | None = None) -> Turned:
    turns = [RecordedTurn("app", "liveness", at * 1_000_000, good, "ok" if good else "status", 0) for at, good in ends]
    return Turned(turns, gone_us)


def played(*names: str, gone_us: int | None = None) -> HeldPlay:
    """Workloads that fail together: the first failure at 10 s, the verdict at 20 s."""
    play = HeldPlay(HoldOptions("shared", MINUTE), "failing")
    for name in names:
        kill = Kill(20_000_000, "liveness", f"{name}-1")
        known = known_pod(recorded(name, (kill,)), "node-a", (), asked_hosts)
        told = turned((5, True), (10, False), (15, False), (20, False), gone_us=None if name == "a" else gone_us)
        play.add(known, told, [kill])
    calm = known_pod(recorded("calm", ()), "node-a", (), asked_hosts)
    play.add(calm, turned((5, True)), [])
    play.run()
    return play


def test_a_kill_of_one_pod_alone_does_not_wait() -> None:
    play = played("a")
    assert ([kill.at_us for kill in play.kills.values()], play.waits) == ([20_000_000], {})


def test_kills_that_wait_go_on_at_the_latest_when_they_may_wait_no_longer() -> None:
    play = played("a", "b", "c", "d")
    moments = sorted(kill.at_us // 1_000_000 for kill in play.kills.values())
    # The trial, the next one half a minute later, and the ends of the waits; the second trial's interval is a minute.
    assert moments == [20, 50, 80, 80]
    assert set(play.waits.values()) == {"shared"}


def test_a_kill_that_waits_does_not_come_once_its_pod_is_gone() -> None:
    play = played("a", "b", "c", "d", gone_us=30_000_000)
    assert list(play.kills) == ["a-1"]
