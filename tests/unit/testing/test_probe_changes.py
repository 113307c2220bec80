"""Probes that change in virtual time: the pod stays, and with it what was counted."""

import json
from typing import Any

import pytest
from probelet.errors import AnswerError
from probelet.testing import VirtualNode


def pod(options: dict[str, Any] | None = None, *, live: bool = True, **probes: Any) -> dict[str, Any]:
    annotations = {"probelet.dev/probe-changes": "live"} if live else {}
    if options is not None:
        annotations["probelet.dev/probe-options"] = json.dumps({"app": options})
    spec = {"terminationGracePeriodSeconds": 1, "containers": [{"name": "app", "image": "i", **probes}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": annotations}, "spec": spec}


def probe(**fields: Any) -> dict[str, Any]:
    return {"httpGet": {"port": 80}, "periodSeconds": 10, **fields}


def test_failures_in_a_row_go_on_towards_another_threshold() -> None:
    node = VirtualNode(pod(livenessProbe=probe(failureThreshold=5)))
    node.answer("web/app/liveness", "failure 0ms: no")
    node.run("25s")
    node.change(pod(livenessProbe=probe(failureThreshold=2)))
    assert not node.kills, "a lower threshold never acts at once"
    node.run("10s")
    assert [kill.at for kill in node.kills] == [30]


def test_without_the_annotation_a_probe_that_runs_goes_on_as_it_was() -> None:
    node = VirtualNode(pod(live=False, livenessProbe=probe()))
    node.run("25s")
    node.change(pod(live=False, livenessProbe=probe(periodSeconds=1)))
    node.run("30s")
    assert [attempt.at for attempt in node.attempts] == [0, 10, 20, 30, 40, 50]


def test_options_come_and_go_with_the_annotation() -> None:
    node = VirtualNode(pod(livenessProbe=probe()))
    node.run("5s")
    node.change(pod({"livenessProbe": {"periodMilliseconds": 2000}}, livenessProbe=probe()))
    node.run("9s")
    node.change(pod(livenessProbe=probe()))
    node.run("30s")
    assert [attempt.at for attempt in node.attempts] == [0, 7, 9, 11, 13, 23, 33, 43]


def test_a_readiness_probe_that_goes_leaves_a_ready_container() -> None:
    node = VirtualNode(pod(readinessProbe=probe()))
    node.answer("web/app/readiness", "failure 0ms: no")
    node.run("5s")
    assert not node.ready("web")
    node.change(pod())
    node.run("2s")
    assert (node.ready("web"), node.workers) == (True, [])


def test_a_readiness_probe_that_comes_is_asked_by_its_name() -> None:
    node = VirtualNode(pod())
    node.run("5s")
    assert node.ready("web")
    node.change(pod(readinessProbe=probe(periodSeconds=1)))
    node.answer("web/app/readiness", "failure 0ms: no")
    assert node.ready("web"), "it is what it was, until the first verdict"
    node.run("5s")
    assert not node.ready("web")


def test_a_pod_that_is_not_there_cannot_change() -> None:
    node = VirtualNode(pod())
    with pytest.raises(AnswerError, match="no such pod"):
        node.change({**pod(), "metadata": {"name": "other"}})
