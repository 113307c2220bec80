"""Liveness kills that wait on a node for tests, by the code that nodes and agents use."""

from typing import Any

import pytest
from probelet.spec.annotation.hold_kills import ANNOTATION, HoldChoice
from probelet.testing import AnswerError, ManifestError, VirtualNode

APPS = ("cart", "orders", "web")
PROBE = {"httpGet": {"path": "/healthz", "port": 80}, "periodSeconds": 10, "failureThreshold": 3}


def manifest(name: str, replicas: int = 2, probe: dict[str, Any] | None = None, **annotations: str) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "app", "image": f"{name}:1", "livenessProbe": probe or PROBE}
    template = {"metadata": {"labels": labels, "annotations": annotations}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def asking(**annotations: str) -> list[dict[str, Any]]:
    """Three workloads that ask one database, and one that does not."""
    db = {"probelet.dev/depends-on": "db:5432"}
    return [*(manifest(app, **db, **annotations) for app in APPS), manifest("mail", **annotations)]


def node(hold: HoldChoice = "shared", most: str = "5m", **annotations: str) -> VirtualNode:
    return VirtualNode(asking(**annotations), replicas=True, hold_kills=hold, hold_kills_for=most)


PODS = [f"{app}-{number}" for app in APPS for number in (0, 1)]


def answers(made: VirtualNode, *steps: str, pods: list[str] = PODS) -> None:
    for pod in pods:
        made.answer(f"{pod}/app/liveness", *steps)


def held(made: VirtualNode) -> list[str]:
    return [event.pod for event in made.events if event.reason == "KillHeld"]


def killed(made: VirtualNode) -> list[str]:
    return [kill.container.partition("/")[0] for kill in made.kills]


def test_off_is_a_kubelet() -> None:
    made = node("off")
    answers(made, "success * 3", "failure * 20", "success")
    made.run("2m")
    assert held(made) == []
    assert set(killed(made)) == set(PODS)


def test_one_restart_is_the_trial_and_the_others_outlive_a_shared_fault() -> None:
    made = node()
    answers(made, "success * 3", "failure: db is slow * 12", "success")
    made.run("5m")
    assert len(killed(made)) <= 4, "trials, ever later"
    assert set(held(made)) >= set(PODS) - set(killed(made)[:2]), "two programs of three have a trial, of six pods"
    assert all(made.ready(pod) for pod in [*PODS, "mail-0"])
    [text] = {
        event.message.partition("incident ")[2].partition(" ")[2] for event in made.events if event.reason == "KillHeld"
    }
    assert text == "(shared target db:5432)"


def test_a_restart_that_helps_is_followed_by_the_others() -> None:
    made = node(most="1h")
    # Each stands still until it is restarted.
    answers(made, "success * 3", "failure")
    made.run("65s")
    trials = killed(made)
    assert len(trials) == 2
    answers(made, "success", pods=trials)
    made.run("15s")
    assert len(killed(made)) == 5, "the other one of each program, and one of the third"


def test_no_kill_waits_longer_than_the_bound() -> None:
    made = node(most="40s")
    answers(made, "success * 3", "failure")
    made.run("3m")
    begun = {event.pod: event.at for event in reversed(made.events) if event.reason == "KillHeld"}
    first = {pod: min(kill.at for kill in made.kills if kill.container == f"{pod}/app") for pod in begun}
    assert len(first) >= 5
    assert all(first[pod] <= at + 40.001 for pod, at in begun.items())


def test_an_annotation_decides_for_its_pods() -> None:
    by_pod = node("off", **{ANNOTATION: "shared"})
    by_node = node("shared", **{ANNOTATION: "off"})
    for made in (by_pod, by_node):
        answers(made, "success * 3", "failure * 12", "success")
        made.run("3m")
    assert len(set(held(by_pod))) >= 5
    assert (held(by_node), set(killed(by_node))) == ([], set(PODS))


def test_one_container_alone_is_killed_as_ever() -> None:
    made = node()
    answers(made, "success * 3", "failure * 3", "success", pods=["cart-0"])
    made.run("2m")
    assert (killed(made), held(made)) == (["cart-0"], [])


def test_a_workload_alone_is_killed_as_ever() -> None:
    made = node()
    answers(made, "success * 3", "failure * 3", "success", pods=["mail-0", "mail-1"])
    made.run("2m")
    assert (sorted(killed(made)), held(made)) == (["mail-0", "mail-1"], [])


def test_a_shared_fault_is_none_of_the_prober() -> None:
    made = node("prober")
    answers(made, "success * 3", "failure * 12", "success")
    made.run("2m")
    assert held(made) == []
    assert set(killed(made)) == set(PODS)


def test_a_container_that_crashes_while_its_kill_waits_starts_again() -> None:
    made = node(most="1h")
    answers(made, "success * 3", "failure * 6", "success")
    made.run("70s")
    waiting = next(pod for pod in PODS if pod in held(made) and pod not in killed(made))
    made.crash(f"{waiting}/app")
    made.run("3m")
    assert made.restarts(f"{waiting}/app") == 1
    assert waiting not in killed(made)
    assert made.ready(waiting)


@pytest.mark.parametrize(
    "handler",
    [{"exec": {"command": ["check"]}}, {"tcpSocket": {"port": 80}}, {"grpc": {"port": 80}}],
    ids=["exec", "tcpSocket", "grpc"],
)
@pytest.mark.parametrize("answer", ["failure", "timeout"])
def test_whatever_the_handler(handler: dict[str, Any], answer: str) -> None:
    probe = {**handler, "periodSeconds": 10, "failureThreshold": 3}
    apps = [manifest(app, probe=probe, **{"probelet.dev/depends-on": "db"}) for app in APPS]
    made = VirtualNode(apps, replicas=True, hold_kills="shared")
    answers(made, "success * 3", f"{answer} * 6", "success")
    made.run("3m")
    assert len(set(held(made))) >= 4


def test_an_annotation_that_comes_later_counts_where_kills_wait_already() -> None:
    made = node("off", **{ANNOTATION: "off"})
    made.run("10s")
    text = r"default/cart-0: metadata.annotations\[probelet.dev/hold-kills\]: 'shared': comes too late"
    with pytest.raises(AnswerError, match=text):
        made.change(asking(**{ANNOTATION: "shared"}))
    holds = node("shared", **{ANNOTATION: "off"})
    holds.run("10s")
    holds.change(asking(**{ANNOTATION: "shared"}))
    answers(holds, "success * 3", "failure * 12", "success")
    holds.run("3m")
    assert len(set(held(holds))) >= 4


@pytest.mark.parametrize(("choice", "most", "text"), [
    ("maybe", "5m", "hold_kills: 'maybe': must be one of off, prober, shared"),
    ("", "5m", "hold_kills: '': must be one of off, prober, shared"),
    ("shared", "0s", "hold_kills_for: '0s': must be more than 0"),
    ("shared", "-1s", "hold_kills_for: '-1s': must be more than 0"),
    ("shared", "soon", "hold_kills_for: time: invalid duration \"soon\""),
])  # fmt: skip
def test_impossible_settings(choice: Any, most: str, text: str) -> None:
    with pytest.raises(AnswerError) as caught:
        VirtualNode(manifest("a"), hold_kills=choice, hold_kills_for=most)
    assert str(caught.value) == text


@pytest.mark.parametrize("name", ["hold_kills", "hold_kills_for"])
def test_a_setting_is_a_text(name: str) -> None:
    options: dict[str, Any] = {name: True}
    with pytest.raises(TypeError, match=f"^{name}: True: must be a text"):
        VirtualNode(manifest("a"), **options)


def test_an_annotation_with_a_mistake_is_one() -> None:
    with pytest.raises(ManifestError, match=r"supported values: off, prober, shared"):
        node(**{ANNOTATION: "sometimes"})
