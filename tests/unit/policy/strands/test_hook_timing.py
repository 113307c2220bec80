"""Lifecycle hooks in virtual time: the steps that wait for a hook, and the consequences of a failed hook."""

from typing import Any

import pytest
from probelet.policy.protocol.actions import Cancel, Perform
from probelet.policy.protocol.effects import Effect, KillContainer, RunHook
from probelet.policy.protocol.inputs import SyncRequested, Terminate
from probelet.policy.rules.grace import KillReason

from tests.unit.policy.rig import Rig, make_pod

EXEC = {"exec": {"command": ["sh", "-c", "hook"]}}
HTTP = {"httpGet": {"path": "/bye", "port": 8080, "scheme": "HTTP"}}
LIVENESS = {"tcpSocket": {"port": 1}, "failureThreshold": 1}


def hooked(name: str = "app", **hooks: Any) -> dict[str, Any]:
    return {"name": name, "lifecycle": hooks}


def sleep(seconds: int) -> dict[str, Any]:
    return {"sleep": {"seconds": seconds}}


def stops(rig: Rig) -> list[tuple[float, str, int]]:
    return [(when, kill.name, kill.grace_seconds) for when, kill in rig.kills]


# preStop.


@pytest.mark.parametrize(
    ("takes", "stopped_at", "left"),
    [(0, 0, 30), (0.9, 0.9, 30), (1, 1, 29), (4.7, 4.7, 26), (28, 28, 2), (29, 29, 2), (100, 30, 2)],
)
def test_a_pre_stop_hook_runs_inside_the_grace_and_whole_seconds_of_it_are_gone(
    takes: float, stopped_at: float, left: int
) -> None:
    rig = Rig(make_pod(hooked(preStop=EXEC)), hook_takes={"app/preStop": takes})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(200)
    assert stops(rig) == [(stopped_at, "app", left)]
    assert rig.gone


def test_the_killing_event_comes_before_the_hook() -> None:
    rig = Rig(make_pod(hooked(preStop=EXEC)), hook_takes={"app/preStop": 5})
    rig.begin()
    rig.handle(Terminate())
    assert rig.events[-1] == ("Killing", "Stopping container app")
    assert rig.kills == []


def test_a_sleep_hook_performs_no_effect() -> None:
    rig = Rig(make_pod(hooked(preStop=sleep(7))))
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(60)
    assert stops(rig) == [(7, "app", 23)]
    assert rig.hooks == []


def test_a_failed_pre_stop_hook_is_an_event_and_does_not_delay_the_kill() -> None:
    rig = Rig(make_pod(hooked(preStop=HTTP)), hook_takes={"app/preStop": 3}, fail={"app/preStop": "refused"})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(60)
    assert [message for reason, message in rig.events if reason == "FailedPreStopHook"] == ["PreStopHook failed"]
    assert stops(rig) == [(3, "app", 27)]


def test_an_instance_whose_kill_failed_does_not_run_its_hook_again() -> None:
    rig = Rig(make_pod(hooked(preStop=EXEC)), fail={KillContainer: "no"})
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(5)
    rig.fail.clear()
    rig.run_until(60)
    assert stops(rig)[-1] == (10, "app", 30)
    assert rig.gone
    assert rig.hooks == [(0, "app/preStop")]


def test_a_hook_that_fails_after_its_grace_is_still_an_event() -> None:
    options: dict[str, Any] = {"hook_takes": {"app/preStop": 31}, "fail": {"app/preStop": "killed"}}
    rig = Rig(make_pod(hooked(preStop=EXEC)), kill_takes=2, **options)
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(30.5)
    assert stops(rig) == [(30, "app", 2)]
    assert "FailedPreStopHook" not in dict(rig.events)
    rig.run_until(31)
    assert ("FailedPreStopHook", "PreStopHook failed") in rig.events


def test_a_pod_that_ends_with_a_grace_of_zero_runs_no_hook() -> None:
    rig = Rig(make_pod(hooked(preStop=EXEC)), hook_takes={"app/preStop": 5})
    rig.begin()
    rig.handle(Terminate(at_once=True))
    rig.settle()
    assert (stops(rig), rig.hooks) == ([(0, "app", 0)], [])
    assert rig.gone


def test_a_probe_kill_runs_the_hook_inside_the_probes_grace() -> None:
    probe = {**LIVENESS, "terminationGracePeriodSeconds": 10}
    container = {**hooked(preStop=EXEC), "livenessProbe": probe}
    rig = Rig(make_pod(container, terminationGracePeriodSeconds=3600), hook_takes={"app/preStop": 4}, kill_takes=99)
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(60)
    assert stops(rig) == [(4, "app", 6)]
    assert rig.ends == [(10, "app")], "killed when the probe's grace is over, hook and all"
    assert rig.starts == [(0, "app", 0), (10, "app", 1)]


def test_results_during_a_hook_lead_to_one_sync_after_the_kill() -> None:
    container = {**hooked(preStop=EXEC), "livenessProbe": LIVENESS}
    rig = Rig(make_pod(container), hook_takes={"app/preStop": 4})
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    published = len(rig.published)
    for _ in range(3):
        rig.handle(SyncRequested())
    assert len(rig.published) == published
    rig.run_until(60)
    assert rig.hooks == [(0, "app/preStop")]
    assert len(rig.starts) == 2


def test_the_end_of_a_sleep_hook_asks_for_no_sync() -> None:
    rig = Rig(make_pod({**hooked(preStop=sleep(5)), "livenessProbe": LIVENESS}, restartPolicy="Never"))
    rig.begin()
    published = len(rig.published)
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(5)
    # One sync for the failure; after the pod has ended, one each for its phase, its end and its removal.
    assert [publish.phase for publish in rig.published[published:]] == ["Running", "Failed", "Failed", "Failed"]


def test_a_removal_finds_the_hook_where_it_is_and_waits_for_it_within_its_own_grace() -> None:
    container = {**hooked(preStop=EXEC), "livenessProbe": {**LIVENESS, "terminationGracePeriodSeconds": 3600}}
    rig = Rig(make_pod(container, terminationGracePeriodSeconds=20), hook_takes={"app/preStop": 15})
    rig.begin()
    rig.probe_fails("liveness", "t://app-0")
    rig.run_until(5)
    assert not [action for action in rig.handle(Terminate()) if isinstance(action, Cancel)]
    rig.run_until(60)
    assert rig.hooks == [(0, "app/preStop")]
    assert stops(rig) == [(15, "app", 10)]
    assert rig.gone


def test_a_shorter_grace_is_in_force_at_once_also_for_a_hook() -> None:
    rig = Rig(make_pod(hooked(preStop=sleep(20))), kill_takes=99)
    rig.begin()
    rig.handle(Terminate())
    rig.run_until(3)
    rig.handle(Terminate(grace_seconds=5))
    rig.run_until(60)
    assert stops(rig) == [(8, "app", 2)]


# postStart.


def test_a_start_lasts_until_its_post_start_hook_ends() -> None:
    rig = Rig(make_pod(hooked("a", postStart=EXEC), {"name": "b"}), hook_takes={"a/postStart": 6})
    rig.begin()
    rig.run_until(5)
    assert [name for _, name, _ in rig.starts] == ["a"]
    assert rig.events[-1] == ("Started", "Container started")
    rig.run_until(10)
    assert rig.starts == [(0, "a", 0), (6, "b", 0)]


def test_no_status_is_published_while_a_post_start_hook_runs() -> None:
    """The prober therefore does not know the containers that this sync started, and probes none of them."""
    rig = Rig(make_pod({"name": "early"}, hooked("late", postStart=EXEC)), hook_takes={"late/postStart": 6})
    rig.begin()
    rig.run_until(5.9)
    assert [status.state for status in rig.published[-1].containers.values()] == ["waiting", "waiting"]
    rig.run_until(7)
    assert [status.state for status in rig.published[-1].containers.values()] == ["running", "running"]


def test_a_post_start_hook_that_fails_kills_the_container_and_says_why_it_waits() -> None:
    options: dict[str, Any] = {"hook_takes": {"app/postStart": 2}, "fail": {"app/postStart": "exit 3"}}
    rig = Rig(make_pod(hooked(postStart=EXEC, preStop=sleep(4)), terminationGracePeriodSeconds=10), **options)
    rig.begin()
    rig.run_until(2)
    assert rig.events[-2:] == [("FailedPostStartHook", "PostStartHook failed"), ("Killing", "FailedPostStartHook")]
    rig.run_until(6)
    (first,) = rig.kills
    assert (first[0], first[1].grace_seconds, first[1].reason) == (6, 6, KillReason.POST_START)
    # The first restart is free; the hook of the second instance runs at once and fails at 8.
    assert rig.starts == [(0, "app", 0), (6, "app", 1)]
    rig.run_until(13)
    status = rig.published[-1].containers["app"]
    assert (status.state, status.reason) == ("waiting", "CrashLoopBackOff")
    assert [deadline.due_ns for deadline in rig.machine.waits.values()] == [22 * 10**9]


def test_the_waiting_reason_of_a_failed_post_start_hook_names_command_error_and_output() -> None:
    pod = make_pod(hooked(postStart=EXEC), {"name": "other"}, restartPolicy="Never")
    rig = Rig(pod, fail={"app/postStart": "no such file"})
    rig.begin()
    status = rig.machine._starting.errors["app"]
    assert status.reason == "PostStartHookError"
    assert status.message == (
        'Exec lifecycle hook ([sh -c hook]) for Container "app" in Pod "web_default(u1)" failed - '
        'error: rpc error: code = Unknown desc = no such file, message: "no such file"'
    )
    assert [status.state for status in rig.published[-1].containers.values()] == ["terminated", "running"]


def test_a_removal_gives_up_a_post_start_hook_that_hangs() -> None:
    rig = Rig(make_pod(hooked(postStart=EXEC)), hook_takes={"app/postStart": 10_000})
    rig.begin()
    rig.run_until(5)
    assert any(isinstance(action, Cancel) for action in rig.handle(Terminate()))
    rig.run_until(60)
    assert rig.gone
    assert "FailedPostStartHook" not in dict(rig.events)


# Handlers.


def test_an_https_hook_that_is_answered_in_plain_http_is_tried_again_without_credentials() -> None:
    headers = [{"name": "Authorization", "value": "secret"}, {"name": "X", "value": "1"}]
    action = {"path": "/up", "port": 8443, "scheme": "HTTPS", "httpHeaders": headers}

    class PlainServer(Rig):
        def error_of(self, effect: Effect) -> str:
            if isinstance(effect, RunHook) and effect.handler.http_get and effect.handler.http_get.scheme == "HTTPS":
                return "http: server gave HTTP response to HTTPS client"
            return super().error_of(effect)

    rig = PlainServer(make_pod(hooked(postStart={"httpGet": action})))
    rig.begin()
    second = [e for a in rig.actions if isinstance(a, Perform) for e in a.effects if isinstance(e, RunHook)][1]
    assert second.handler.http_get is not None
    assert (second.handler.http_get.scheme, [h.name for h in second.handler.http_get.http_headers]) == ("HTTP", ["X"])
    assert "LifecycleHTTPFallback" in dict(rig.events)
    assert len(rig.starts) == 1
    assert rig.kills == []


def test_a_hook_without_a_handler_fails() -> None:
    rig = Rig(make_pod(hooked(postStart={"tcpSocket": {"port": 1}}), restartPolicy="Never"))
    rig.begin()
    assert ("FailedPostStartHook", "PostStartHook failed") in rig.events
