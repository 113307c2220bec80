"""What is advised in which trouble. Every piece of advice has the verdict of a play with the change."""

from typing import Any

import pytest
from probelet.lab.picture.document import SimulateDocument
from probelet.lab.simulate import play
from probelet.lab.simulate.manifests import read_manifests
from probelet.lab.simulate.simulation import Tried

from tests.unit.lab.simulate.article.service import deployment


def advised(manifests: Any, scenario: str) -> tuple[list[str], SimulateDocument]:
    document = play(manifests, scenario)
    return [f"{row['id']} {row['old']}->{row['new']}" for row in document["advice"]], document


def same_handler(manifests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The manifests with the handler of the liveness probe in the readiness probe."""
    container = manifests[0]["spec"]["template"]["spec"]["containers"][0]
    container["readinessProbe"]["httpGet"] = container["livenessProbe"]["httpGet"]
    return manifests


def test_a_timeout_above_the_dependency() -> None:
    advice, document = advised(deployment("readiness"), "dependency-slow")
    assert advice[:2] == ["readiness-timeout 1->3", "readiness-own-path /readyz->a path that does not ask shared"]
    assert document["advice"][0]["verdict"]["requests"]["lost"] == 0
    assert "leaves its Service after up to 33 s, not 31 s" in document["advice"][0]["why"]


def test_both_timeouts_where_both_probes_ask_it() -> None:
    advice, document = advised(same_handler(deployment("liveness", "readiness")), "dependency-slow")
    assert document["verdict"]["kills"] > 0
    assert "both-timeouts 1->3" in advice[:2]


def test_another_path_of_one_probe_leaves_what_the_other_asks() -> None:
    _, document = advised(same_handler(deployment("liveness", "readiness")), "dependency-slow")
    found = {row["id"]: row["verdict"] for row in document["advice"]}
    both = found["readiness-liveness-own-path"]
    assert (both["kills"], both["requests"]["lost"]) == (0, 0)
    assert all(row["kills"] for name, row in found.items() if name in ("readiness-own-path", "readiness-timeout"))


def test_one_timeout_for_every_probe_that_asks_the_dependency() -> None:
    manifests = deployment("readiness")
    containers = manifests[0]["spec"]["template"]["spec"]["containers"]
    second = {**containers[0], "name": "proxy", "ports": [{"containerPort": 8081}]}
    second["readinessProbe"] = {"httpGet": {"path": "/readyz", "port": 8081}}
    containers.append(second)
    advice, document = advised(manifests, "dependency-slow")
    assert advice[0] == "timeouts-of-dependency 1->3"
    first = document["advice"][0]
    assert [row["path"].rpartition("spec.")[2] for row in (first, *first["also"])] == [
        "containers[0].readinessProbe.timeoutSeconds",
        "containers[1].readinessProbe.timeoutSeconds",
    ]
    assert document["verdict"]["requests"]["lost"] > 0
    assert first["verdict"]["requests"]["lost"] == 0
    assert first["why"].startswith("every probe that asks shared then waits long enough for it; the price: ")


def test_a_startup_probe_in_place_of_a_delay() -> None:
    advice, document = advised(deployment("liveness initialDelaySeconds=30", "readiness"), "startup-drift")
    assert not document["verdict"]["recovered"]
    assert advice[0] == "startup-probe ->{periodSeconds: 10, failureThreshold: 11}"
    assert document["advice"][0]["verdict"]["recovered"]
    assert document["advice"][0]["path"] == "spec.template.spec.containers[0].startupProbe"


def test_more_patience_of_the_startup_probe_that_is_there() -> None:
    advice, _ = advised(deployment("startup", "liveness"), "startup-drift")
    assert advice[0] == "startup-failure-threshold 3->6"


def test_a_liveness_probe_where_nothing_restarts_a_replica_that_hangs() -> None:
    advice, document = advised(deployment("readiness"), "deadlock")
    assert not document["verdict"]["recovered"]
    assert advice == ["liveness-probe ->{periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6}"]
    assert document["advice"][0]["verdict"]["recovered"]


def test_a_second_replica_where_there_is_one() -> None:
    advice, _ = advised(deployment("liveness", "readiness", replicas=1), "deadlock")
    assert advice == ["replicas 1->2"]


def test_time_between_the_steps_of_a_rollout() -> None:
    advice, _ = advised(deployment("liveness", "readiness"), "bad-rollout")
    assert [each.split()[0] for each in advice] == ["min-ready-seconds"]


def test_a_probe_that_does_its_work_gets_no_advice() -> None:
    advice, document = advised(deployment("liveness", "readiness"), "deadlock")
    assert document["verdict"]["kills"] == 1
    assert advice == []
    assert document["findings"][-1] == "None of the 2 single changes that were tried helps."


def test_a_sentence_says_how_many_changes_of_which_kind_were_tried() -> None:
    several = "None of 12 changes that were tried helps: 8 single ones, 3 of every probe that asks the same dependency"
    assert Tried(8, 3, 1).sentence == f"{several}, 1 pair."
    assert Tried(8, 0, 2).sentence == "None of 10 changes that were tried helps: 8 single ones, 2 pairs."


def test_nothing_where_nothing_happens() -> None:
    advice, document = advised(deployment("readiness timeoutSeconds=3"), "dependency-slow")
    assert (advice, document["findings"]) == (
        [],
        ["Nothing left its Service, nothing was killed, no request was lost."],
    )


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.replicas", 5, {"replicas": 5}),
        ("spec.replicas", None, {}),
        ("spec.minReadySeconds", 60, {"replicas": 3, "minReadySeconds": 60}),
    ],
)
def test_a_change_leaves_the_manifests_alone(path: str, value: int | None, expected: dict[str, Any]) -> None:
    manifests = read_manifests(deployment("readiness"))
    (changed, service) = manifests.changed(0, {path: value})
    rest = {"selector", "template"}
    assert {name: found for name, found in changed["spec"].items() if name not in rest} == expected
    assert manifests.objects[0]["spec"]["replicas"] == 3
    assert service is manifests.objects[1]


def test_a_change_reaches_into_lists() -> None:
    manifests = read_manifests(deployment("liveness initialDelaySeconds=30"))
    place = "spec.template.spec.containers[0]"
    changes = {f"{place}.livenessProbe.initialDelaySeconds": None, f"{place}.startupProbe": {"failureThreshold": 9}}
    container = manifests.changed(0, changes)[0]["spec"]["template"]["spec"]["containers"][0]
    assert "initialDelaySeconds" not in container["livenessProbe"]
    assert container["startupProbe"] == {"failureThreshold": 9}
