"""A namespace in which something goes wrong: the pods before it, the record of it, and what must hold after it."""

import time
from collections.abc import Sequence
from datetime import datetime

from tests.cluster.disturbances import pods
from tests.cluster.namespace import Namespace
from tests.cluster.record.recording import Recording
from tests.cluster.record.seen import ClusterSide, condition
from tests.kubelet.beside.seen.instance import Instance

YOUNG_SECONDS = 12.0
"""A kubelet's prober that starts anew forgets that a younger container has started
(prober/prober_manager.go:kubeletRestartGracePeriod, 1.36)."""


class Scene:
    """Between ``begin`` and ``end`` the test disturbs."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self._recording = Recording(namespace, namespace.cluster.folder / "scenes" / namespace.name, "disturbed")

    def begin(self) -> None:
        """Create the pods and wait until each is as it has to be."""
        self._recording.begin()
        for one in pods.all_pods():
            self.namespace.create(one)
        for name in (*pods.STEADY, *pods.FAILING):
            self.namespace.until_ready(name)

    def mark(self, name: str) -> None:
        self._recording.mark(name)

    def lives(self, name: str) -> int:
        """How often the container of a pod has been restarted, as its status says."""
        statuses = self.namespace.pod(name)["status"].get("containerStatuses") or [{}]
        return int(statuses[0].get("restartCount", 0))

    def until_killed(self, more: int = 1) -> None:
        """Wait until a container that fails has been killed and started again so often from now on."""
        name = pods.FAILING[0]
        before = self.lives(name)
        self.namespace.until(lambda: self.lives(name) >= before + more, f"{name} to be killed")

    def until_old(self) -> None:
        """Wait until a prober that starts anew takes the containers that have to be ready for ready."""
        self.namespace.until(lambda: all(self._age(name) > YOUNG_SECONDS for name in pods.STEADY), "older containers")

    def _age(self, name: str) -> float:
        """The seconds since the start of a pod's container."""
        started = self.namespace.pod(name)["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
        return time.time() - datetime.fromisoformat(started).timestamp()

    def settle(self) -> None:
        """Wait until the conditions are right: the pods that have to be ready are, the one that starts is not."""
        self.until_steady()
        assert not self.namespace.is_ready(pods.STARTING)

    def until_steady(self) -> None:
        """Wait until the pods that have to be ready are."""
        for name in (*pods.STEADY, pods.TURNING):
            self.namespace.until_ready(name)

    def end(self) -> ClusterSide:
        """The record."""
        self._recording.end()
        return ClusterSide(self._recording.out)

    def close(self) -> None:
        self._recording.end()


def nothing_was_killed_that_should_live(seen: ClusterSide) -> None:
    for name in (*pods.STEADY, pods.STARTING, pods.TURNING):
        lives = [one for rows in seen.of(name).values() for one in rows]
        assert [(one.attempt, bool(one.finished)) for one in lives] == [(0, False)], name


def each_failure_killed_once(seen: ClusterSide, hooks: Sequence[int] = (1,)) -> int:
    """Whether each life of a failing container ended by its own failure, by one signal and after one hook.

    ``hooks``: how often a hook may have run. One that did not run is an event. Returns how many lives ended.
    """
    # A kubelet that dies after a container's creation and before its start leaves one that never ran, and says nothing.
    ended = [one for name in pods.FAILING for one in seen.of(name)["app"] if one.finished and one.notes]
    for one in ended:
        assert len(_notes(one, "http", "l")) >= pods.GOOD_ANSWERS + pods.FAILED_ANSWERS, _words(one)
        ran = len(_notes(one, "exec", "hook"))
        assert ran in hooks, _words(one)
        assert ran or _has_event(seen, one.pod, "FailedPreStopHook"), _words(one)
        assert len(_notes(one, "signal")) == 1, _words(one)
        assert one.exit_code == 0, _words(one)
    return len(ended)


def nobody_noticed(seen: ClusterSide, kills: int = 1, hooks: Sequence[int] = (1,)) -> None:
    """Whether at least so many failing containers were killed, each once, and no condition of another pod turned."""
    nothing_was_killed_that_should_live(seen)
    assert each_failure_killed_once(seen, hooks) >= kills
    assert all(stayed_ready(seen, name) for name in pods.STEADY)
    assert never_ready(seen, pods.STARTING)


def never_ready(seen: ClusterSide, name: str) -> bool:
    return all(condition(note["object"], "Ready").get("status") != "True" for note in seen.changes(name))


def stayed_ready(seen: ClusterSide, name: str) -> bool:
    """Whether a pod never turned unready once it was ready."""
    turns = [condition(note["object"], "Ready").get("status") for note in seen.changes(name)]
    return "True" in turns and set(turns[turns.index("True") :]) == {"True"}


def _has_event(seen: ClusterSide, pod: str, reason: str) -> bool:
    return any((event["pod"], event["reason"]) == (pod, reason) for event in seen.events)


def _notes(one: Instance, what: str, name: str = "") -> list[dict[str, object]]:
    return [note for note in one.notes if note["what"] == what and note.get("name", "") == name]


def _words(one: Instance) -> str:
    return "\n".join([f"{one.pod} {one.attempt} {one.id}", *map(str, one.notes[-25:])])
