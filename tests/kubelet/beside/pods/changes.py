"""Pods that the comparison kills, changes or removes, and their second manifests."""

from copy import deepcopy

from tests.kubelet.beside.pods.make import OTHER_IMAGE, Object, answers, command, container, pod


def _uid(number: int) -> str:
    return f"11111111-2222-3333-4444-{number:012d}"


READY = answers("r", "200")

PODS = [
    pod("killed", container(readinessProbe=READY)),
    pod("killed-sandbox", container(readinessProbe=READY)),
    pod("change-image", container(readinessProbe=READY)),
    pod("change-image-uid", container(readinessProbe=READY), uid=_uid(1)),
    pod("change-env-uid", container(env=[{"name": "A", "value": "1"}]), uid=_uid(2)),
    pod("change-probe", container(readinessProbe=READY)),
    pod("change-probe-uid", container(readinessProbe=READY), uid=_uid(3)),
    pod(
        "down-removed",
        container("--term", "3000", lifecycle={"preStop": command("hook", "0@500")}),
        terminationGracePeriodSeconds=10,
    ),
    pod("down-changed", container("--term", "300", readinessProbe=READY)),
    pod("down-killed", container(readinessProbe=READY, livenessProbe=answers("l", "200"))),
    pod(
        "down-probed",
        container(
            readinessProbe=answers("r", "200", periodSeconds=5),
            startupProbe=answers("s", "200"),
            livenessProbe=answers("l", "200", periodSeconds=5, initialDelaySeconds=2),
        ),
    ),
]

KILLED = "killed"
KILLED_SANDBOX = "killed-sandbox"
REMOVED = ("removed-hook-http", "removed-hook-sleep", "removed-slow", "removed-ignores", "sidecars")
REMOVED_WHILE_DOWN = "down-removed"
KILLED_WHILE_DOWN = "down-killed"


def changed() -> list[Object]:
    """The second manifests of pods that change while their agent runs."""
    second = {one["metadata"]["name"]: deepcopy(one) for one in PODS if one["metadata"]["name"].startswith("change-")}
    for name in ("change-image", "change-image-uid"):
        second[name]["spec"]["containers"][0]["image"] = OTHER_IMAGE
    second["change-env-uid"]["spec"]["containers"][0]["env"][0]["value"] = "2"
    for name in ("change-probe", "change-probe-uid"):
        second[name]["spec"]["containers"][0]["readinessProbe"]["periodSeconds"] = 3
    return list(second.values())


def changed_while_down() -> list[Object]:
    """The second manifests of pods that change while their agent is away."""
    second = deepcopy(next(one for one in PODS if one["metadata"]["name"] == "down-changed"))
    second["spec"]["containers"][0]["image"] = OTHER_IMAGE
    return [second]
