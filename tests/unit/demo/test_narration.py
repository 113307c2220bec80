"""The lines that the demo prints about the example pods."""

from typing import Any

from examples.demo.narration import Narrator


def container(**changes: Any) -> dict[str, Any]:
    """A healthy container in the status document, changed by ``changes``."""
    return {
        "name": "app",
        "container_id": "process://1",
        "state": "running",
        "restart_count": 0,
        "ready": True,
        "started": True,
        "last_exit": None,
        "backoff": None,
        "probes": {},
    } | changes


def answer(*looks: dict[str, Any]) -> list[str]:
    """The lines after the last of ``looks``."""
    narrator = Narrator(grace={"app": 2})
    message: list[str] = []
    for look in looks:
        message = narrator.changes({"pods": [{"name": "app", "containers": [look]}]})
    return message


EXIT = {"at": "2026-01-01T00:00:00.000Z", "exit_code": 1, "reason": "Error"}
LATER_EXIT = EXIT | {"at": "2026-01-01T00:00:04.000Z"}
BACKOFF = {"delay_seconds": 10.0, "step": 1, "due_at": "2026-01-01T00:00:14.000Z"}


def test_a_running_container_is_reported_as_started() -> None:
    assert answer(container()) == ["app: started"]


def test_a_look_without_a_change_prints_nothing() -> None:
    assert answer(container(), container()) == []


def test_the_first_restart_is_reported_as_free() -> None:
    new = container(container_id="process://2", restart_count=1, last_exit=EXIT)
    assert answer(container(), new) == ["app: ended with exit code 1", "app: restart 1, free"]


def test_a_back_off_is_reported_with_its_delay_and_restart() -> None:
    before = container(restart_count=1, last_exit=EXIT)
    waiting = container(
        state="waiting", restart_count=1, last_exit=LATER_EXIT, backoff=BACKOFF, started=False, ready=False
    )
    assert answer(before, waiting) == ["app: ended with exit code 1, back-off 10 s before restart 2"]
    restarted = container(container_id="process://3", restart_count=2, last_exit=LATER_EXIT)
    assert answer(before, waiting, restarted) == ["app: restart 2, after a back-off of 10 s"]


def test_a_later_restart_without_a_wait_is_reported_as_at_once() -> None:
    before = container(restart_count=1, last_exit=EXIT, backoff=BACKOFF)
    assert "app: restart 2, at once" in answer(before, container(restart_count=2, last_exit=LATER_EXIT))


def test_lost_readiness_is_reported_with_the_probes_message() -> None:
    last = {"message": "HTTP probe failed with statuscode: 503"}
    probes = {"readiness": {"failure_threshold": 2, "last": last, "runs": 9}}
    lost = answer(container(probes=probes), container(probes=probes, ready=False))
    assert lost == ["app: not ready, readiness 2 of 2 failed: HTTP probe failed with statuscode: 503"]


def test_a_startup_probe_that_succeeds_is_reported_with_its_run() -> None:
    probes = {"startup": {"failure_threshold": 30, "last": None, "runs": 7}}
    message = answer(container(probes=probes, started=False), container(probes=probes))
    assert message == ["app: startup probe succeeded at run 7, the other probes take over"]


def test_a_liveness_kill_is_reported_with_threshold_and_grace() -> None:
    narrator = Narrator(grace={"app": 2})
    probes = {"liveness": {"failure_threshold": 3, "last": None, "runs": 7}}
    narrator.changes({"pods": [{"name": "app", "containers": [container(probes=probes)]}]})
    killing = {
        "reason": "Killing",
        "object": "default/app",
        "message": "Container app failed liveness probe, will be restarted",
    }
    assert narrator.event(killing) == "app: liveness 3 of 3 failed, SIGTERM, grace 2 s"
    assert narrator.event(killing | {"message": "Stopping container app"}) is None
