"""First attempts where the delay is as long as the period, native and taken over: docs/cluster/agent.md counts them."""

import sys

import pytest

from tests.cluster.disturbances.pods import managed
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.pods.make import answers, container, pod

ROUNDS, AT_ONCE = 10, 20
"""So many pods a side in each round, because containers that start at once make each other wait."""
SECONDS = 5
"""The delay, and the period."""
LATE_SECONDS = 3.0
"""An attempt that comes so long after the delay has missed the tick at its end."""
EARLY_SECONDS = 1.1
"""A prober counts the delay from the whole second in which a container has started (status_manager.go:normalizeStatus,
1.36)."""
SIDES = ("native", "taken")


@pytest.mark.cluster
@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.usefixtures("probelet")
def test_first_attempts_of_both_sides(namespace: Namespace) -> None:
    waits: dict[str, list[float]] = {side: [] for side in SIDES}
    for number in range(ROUNDS):
        for side, found in play(namespace, number).items():
            waits[side] += found
    for side, found in waits.items():
        late = sum(wait > LATE_SECONDS for wait in found)
        sys.stdout.write(f"{side}: {late} of {len(found)} later than {LATE_SECONDS:g} s, most {max(found):.1f} s\n")
        assert len(found) == ROUNDS * AT_ONCE
        assert min(found) > -EARLY_SECONDS, "never before the delay is over, in whole seconds"


def play(namespace: Namespace, number: int) -> dict[str, list[float]]:
    """For each side, how long after the delay the first attempt of each pod came."""
    recording = Recording(namespace, namespace.cluster.folder / "scenes" / namespace.name, f"round-{number}")
    recording.begin()
    probe = answers("l", "200", initialDelaySeconds=SECONDS, periodSeconds=SECONDS)
    for one in range(AT_ONCE):
        namespace.create(pod(f"native-{number}-{one}", container(livenessProbe=probe)))
        namespace.create(managed(pod(f"taken-{number}-{one}", container(livenessProbe=probe))))
    namespace.until(lambda: len(asked(recording, number)) == len(SIDES) * AT_ONCE, "the first attempt of each")
    recording.end()
    seen = ClusterSide(recording.out)
    for one in namespace.pods():
        namespace.cluster.api.delete(namespace.path("pods", one["metadata"]["name"]), grace_seconds=0)
    namespace.until_empty()
    return {side: [late(seen, f"{side}-{number}-{one}") for one in range(AT_ONCE)] for side in SIDES}


def asked(recording: Recording, number: int) -> set[str]:
    """The pods of a round with an attempt. The logs of the round before may still be there."""
    logs = [log for side in SIDES for log in recording.out.glob(f"logs/*_{side}-{number}-*")]
    return {log.name.split("@")[0] for log in logs if '"http"' in log.read_text()}


def late(seen: ClusterSide, name: str) -> float:
    """The seconds from the end of a pod's delay to its first attempt."""
    apps = seen.of(name)["app"]
    # A container whose creation takes too long for the kubelet has a second instance.
    started, first = next((app.started, note["at"]) for app in apps for note in app.notes if note["what"] == "http")
    return first / 1e9 - started - SECONDS
