"""Public reports of outages by probes: each scenario shows what its report says, and that the change mended it."""

from functools import cache
from typing import Any

import pytest
from probelet.lab.picture.document import VerdictRow
from probelet.lab.scenario import load_scenario
from probelet.lab.simulate import play

from tests.support.paths import ROOT

FOLDER = ROOT / "examples" / "lab" / "incidents"
NAMES = sorted(path.name for path in FOLDER.iterdir())


@cache
def played(name: str) -> tuple[VerdictRow, VerdictRow]:
    """Before and after the change."""
    folder = FOLDER / name
    document = play(folder / "before.yaml", folder / "scenario.yaml", against=folder / "after.yaml", advise=False)
    return document["verdict"], document["against"]["verdict"]


def test_postgres_is_killed_before_it_has_recovered_again_and_again() -> None:
    """sapcc/openstack-helm#64: more than 450 restarts; with an initial delay of 60 s it came back."""
    before, after = played("postgres-recovery")
    assert not before["recovered"]
    assert before["kills"] >= 8
    assert (after["recovered"], after["kills"]) == (True, 0)


def test_a_busy_portal_is_killed_although_it_is_alive() -> None:
    """Systemorph/MeshWeaver#592: repeated full outages of about two minutes; with two replicas and 5 s none."""
    before, after = played("busy-portal")
    assert before["kills"] >= 2
    assert 60 <= before["longest_outage_seconds"] <= 240
    assert (after["kills"], after["longest_outage_seconds"]) == (0, 0)


def test_a_restart_of_redis_terminates_pods_that_stay_in_the_service() -> None:
    """passmower/passmower#265: liveness asked Redis, readiness nothing; the change swapped them."""
    before, after = played("redis-liveness")
    assert before["kills"] >= 2
    assert after["kills"] == 0
    assert after["unready_pods_max"] == 2


def test_workers_that_are_busy_for_a_moment_cost_the_replica_its_place() -> None:
    """datacommonsorg/website#6624: readiness flaps after one failure, and the load balancer finds no backend."""
    before, after = played("busy-workers")
    assert before["unready_pods_max"] == 3
    assert before["longest_outage_seconds"] > 0
    assert (after["unready_pods_max"], after["longest_outage_seconds"]) == (0, 0)


def test_overload_kills_one_replica_after_the_other_where_liveness_equals_readiness() -> None:
    """kubernetes/ingress-nginx#5671: with a more tolerant liveness probe readiness sheds the load first."""
    before, after = played("ingress-overload")
    assert before["kills"] >= 3
    assert after["kills"] == 0
    assert after["recovered"]


def test_readiness_that_asks_the_database_takes_the_whole_site_away() -> None:
    """mozilla/kitsune#3421: removing the probe by hand brought the site back."""
    before, after = played("shared-database")
    assert before["unready_pods_max"] == 4
    assert before["longest_outage_seconds"] > 300
    assert after["requests"]["lost"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_each_incident_names_its_report_in_all_files(name: str) -> None:
    files: dict[str, Any] = {path.name: path.read_text() for path in (FOLDER / name).iterdir()}
    assert set(files) == {"before.yaml", "after.yaml", "scenario.yaml"}
    report = load_scenario(FOLDER / name / "scenario.yaml").scenario.text.split(":")[0]
    assert "#" in report
    assert all(report in text for text in files.values())
