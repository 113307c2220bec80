"""Without the webhook pods keep their native probes: a rollout goes on, and no moment has too few ready endpoints."""

import pytest

from tests.cluster.control_plane.api import Object
from tests.cluster.fifteen.pods import DEPLOYMENT, REPLICAS, deployment, of_side, service
from tests.cluster.installed import Installed, taken_probes
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

WEBHOOKS = 2


def test_a_rollout_without_the_webhook_ends_with_native_probes(
    probelet: Installed, namespace: Namespace, recording: Recording
) -> None:
    namespace.create(service(DEPLOYMENT), "services")
    namespace.create(of_side(deployment(), taken=True), "apps/v1/deployments")
    assert _rolled_out(namespace) == [True] * REPLICAS
    probelet.scale_webhook(0)
    try:
        recording.mark("rollout")
        _change(namespace, "1")
        assert _rolled_out(namespace) == [False] * REPLICAS
        missed = sorted(one["metadata"]["name"] for one in _pods(namespace))
        namespace.until(lambda: _told(namespace) == missed, "an event of each pod that was missed")
    finally:
        probelet.scale_webhook(WEBHOOKS)
    _change(namespace, "2")
    assert _rolled_out(namespace) == [True] * REPLICAS
    recording.end()
    seen = ClusterSide(recording.out)
    states = [states for at, states in seen.endpoints(DEPLOYMENT) if at > seen.mark("rollout")]
    assert min(sum(state.startswith("ready") for state in one.values()) for one in states) == REPLICAS


def _change(namespace: Namespace, value: str) -> None:
    patch = {"spec": {"template": {"metadata": {"annotations": {"change": value}}}}}
    namespace.cluster.api.patch(namespace.path("apps/v1/deployments", DEPLOYMENT), patch)


def _rolled_out(namespace: Namespace) -> list[bool]:
    """Whether the probes of each pod were taken over, once the Deployment has what it wants."""
    namespace.until(lambda: _is_complete(_deployment(namespace)), "the rollout")
    pods = _pods(namespace)
    assert all("readinessProbe" in one["spec"]["containers"][0] or taken_probes(one) for one in pods)
    return ["readinessProbe" in taken_probes(one).get("app", {}) for one in pods]


def _pods(namespace: Namespace) -> list[Object]:
    return [one for one in namespace.pods() if not one["metadata"].get("deletionTimestamp")]


def _told(namespace: Namespace) -> list[str]:
    """The pods of which the agent says that they asked in vain."""
    events = [event for event in namespace.all_events() if event["reason"] == "ProbesNotTakenOver"]
    return sorted(event["involvedObject"]["name"] for event in events if "(label" in event["message"])


def _deployment(namespace: Namespace) -> Object:
    return namespace.cluster.api.get(namespace.path("apps/v1/deployments", DEPLOYMENT))


def _is_complete(thing: Object) -> bool:
    status, wanted = thing.get("status", {}), thing["spec"]["replicas"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
    return counts == [wanted] * 3 and status.get("observedGeneration") == thing["metadata"]["generation"]
