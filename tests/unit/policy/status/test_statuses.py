"""Container statuses: the cases of convertToAPIContainerStatuses that need more than the newest instance."""

from typing import Any

from probelet.policy.facts.snapshot import ContainerRecord, Snapshot, State
from probelet.policy.status.container_status import ContainerStatus, LastExit, StartError, container_statuses
from probelet.spec.model.pod import Pod

from tests.unit.policy.rig import make_pod, record, sandbox

WAITS = StartError("CrashLoopBackOff", "back-off 10s")


def statuses(pod: Pod, *records: ContainerRecord, **options: Any) -> dict[str, ContainerStatus]:
    known = options.pop("known", {})
    return container_statuses(pod, Snapshot((sandbox(),), records), options.pop("errors", {}), known, **options)


def test_a_running_container_that_vanished_counts_as_ended() -> None:
    pod = make_pod()
    before = statuses(pod, record(pod, "app", restart_count=2))
    gone = statuses(pod, known=before)["app"]
    assert (gone.state, gone.reason, gone.restart_count) == ("waiting", "ContainerCreating", 3)
    assert gone.last_exit == LastExit(0, 137, "ContainerStatusUnknown")
    assert statuses(pod, known={"app": gone})["app"] == gone, "counted once"


def test_an_exit_is_remembered_when_the_runtime_has_forgotten_it() -> None:
    pod = make_pod()
    dead = record(pod, "app", State.EXITED, exit_code=3, reason="Error", finished_at_ms=5)
    before = statuses(pod, dead)
    assert statuses(pod, known=before) == before
    again = statuses(pod, record(pod, "app", restart_count=1), known=before)
    assert again["app"].last_exit == LastExit(5, 3, "Error")
    later = statuses(pod, record(pod, "app", restart_count=1), known=again)
    assert later["app"].last_exit == LastExit(5, 3, "Error")


def test_a_forgotten_init_container_counts_as_completed_if_a_regular_container_was_created() -> None:
    pod = make_pod(init=[{"name": "setup"}, {"name": "side", "restartPolicy": "Always"}])
    found = statuses(pod, record(pod, "app"))
    assert (found["setup"].state, found["setup"].exit_code) == ("terminated", 0)
    assert (found["side"].state, found["side"].reason) == ("waiting", "PodInitializing")
    assert statuses(pod)["setup"].state == "waiting"


def test_a_container_in_back_off_waits_except_an_init_container_that_ended_well() -> None:
    pod = make_pod(init=[{"name": "side", "restartPolicy": "Always"}])
    errors = {"app": WAITS, "side": WAITS}
    done = [record(pod, name, State.EXITED, exit_code=0, reason="Completed") for name in ("app", "side")]
    found = statuses(pod, *done, errors=errors)
    assert (found["app"].state, found["side"].state) == ("waiting", "terminated")
    failed = record(pod, "side", State.EXITED, exit_code=1, reason="Error")
    assert statuses(pod, failed, errors=errors)["side"].reason == "CrashLoopBackOff"


def test_the_last_exit_is_this_containers_own_and_of_an_instance_before() -> None:
    pod = make_pod({"name": "app"}, {"name": "other"})
    dead = record(pod, "other", State.EXITED, exit_code=3)
    assert statuses(pod, dead, record(pod, "app", restart_count=1))["app"].last_exit is None
    assert statuses(pod, record(pod, "app", State.EXITED, exit_code=3))["app"].last_exit is None


def test_the_address_is_that_of_the_newest_sandbox_while_it_is_ready() -> None:
    old = sandbox(ip="10.0.0.1")
    assert Snapshot((sandbox(1, ip="10.0.0.2"), old)).pod_ip == "10.0.0.2"
    assert Snapshot((sandbox(1, ready=False), old)).pod_ip == ""
    assert Snapshot().pod_ip == ""


def test_news_is_what_came_and_what_no_longer_runs() -> None:
    pod = make_pod()
    empty, alone = Snapshot(), Snapshot((sandbox(),))
    runs = Snapshot((sandbox(),), (record(pod, "app"),))
    dead, made = (Snapshot((sandbox(),), (record(pod, "app", state),)) for state in (State.EXITED, State.CREATED))
    ended = Snapshot((sandbox(ready=False),))
    news = [(runs, alone), (alone, runs), (dead, runs), (alone, empty), (empty, alone)]
    assert all(after.has_news(since=before) for after, before in news)
    old = [(runs, runs), (alone, dead), (made, alone), (alone, made), (empty, ended)]
    assert not any(after.has_news(since=before) for after, before in old)
