"""The state of the cache when events, lists and answers overtake each other."""

import pytest
from msgspec.structs import replace
from probelet.policy.facts.snapshot import ContainerRecord, SandboxRecord, State
from probelet.runtime.seen import cache as cache_module
from probelet.runtime.seen.cache import PodCache

RUNNING = ContainerRecord("t://a", "app", State.RUNNING, created_at_ns=1)
EXITED = replace(RUNNING, state=State.EXITED, exit_code=1, finished_ns=5)
SANDBOX = SandboxRecord("s", True, ip="10.0.0.1")


def test_a_container_never_goes_back_to_a_state_it_has_left() -> None:
    cache = PodCache()
    assert cache.put_container("u", EXITED, 1)
    assert not cache.put_container("u", RUNNING, 2), "a newer event came before this one"
    assert not cache.put_container("u", replace(RUNNING, state=State.UNKNOWN), 3)
    assert cache.snapshot("u").containers == (EXITED,)


def test_the_first_report_of_an_exit_stays() -> None:
    cache = PodCache()
    cache.put_container("u", EXITED, 1)
    assert not cache.put_container("u", replace(EXITED, finished_ns=9), 2), "another conversion of the same wall time"
    assert cache.snapshot("u").containers[0].finished_ns == 5


def test_a_sandbox_that_stopped_stays_stopped() -> None:
    cache = PodCache()
    assert cache.put_sandbox("u", SANDBOX, 1)
    assert not cache.put_sandbox("u", SANDBOX, 2)
    stopped = replace(SANDBOX, ready=False, ip="")
    assert cache.put_sandbox("u", stopped, 3)
    assert not cache.put_sandbox("u", SANDBOX, 4)
    assert cache.snapshot("u").sandboxes == (stopped,)


def test_a_late_event_does_not_bring_back_a_removed_container_or_sandbox() -> None:
    cache = PodCache()
    cache.put_container("u", EXITED, 1)
    cache.put_sandbox("u", SANDBOX, 1)
    assert cache.drop("u", EXITED.id)
    assert not cache.drop("u", EXITED.id)
    assert cache.drop("u", SANDBOX.id)
    assert not cache.put_container("u", EXITED, 2)
    assert not cache.put_sandbox("u", SANDBOX, 2)


def test_a_list_drops_what_it_lacks_but_not_what_came_after_its_request() -> None:
    cache = PodCache()
    cache.put_container("u", EXITED, 10)
    younger = replace(RUNNING, id="t://b", restart_count=1)
    cache.put_container("u", younger, 30)
    assert cache.keep_only("u", set(), asked_at=20)
    assert cache.snapshot("u").containers == (younger,)
    assert not cache.keep_only("u", {younger.id}, asked_at=40)


def test_a_pod_that_is_missing_from_a_list_is_forgotten() -> None:
    cache = PodCache()
    cache.put_sandbox("u", SANDBOX, 1)
    assert cache.keep_only("u", set(), asked_at=2)
    assert cache.uids() == set()


def test_instances_are_sorted_by_creation_and_then_by_restart_count_newest_first() -> None:
    cache = PodCache()
    for count in (1, 0, 2):
        cache.put_container("u", replace(RUNNING, id=f"t://{count}", restart_count=count), 1)
    cache.put_container("u", replace(RUNNING, id="t://late", created_at_ns=9), 1)
    assert [record.id for record in cache.snapshot("u").containers] == ["t://late", "t://2", "t://1", "t://0"]


def test_the_cache_takes_no_more_pods_and_records_than_its_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "PODS_MAX", 2)
    monkeypatch.setattr(cache_module, "RECORDS_MAX", 3)
    cache = PodCache()
    for number in range(10):
        cache.put_container("u", replace(RUNNING, id=f"t://{number}"), 1)
        cache.put_sandbox("v", replace(SANDBOX, id=f"s{number}"), 1)
        cache.put_container(f"w{number}", replace(RUNNING, id=f"t://w{number}"), 1)
        cache.put_as_listed("u", replace(RUNNING, id=f"t://listed{number}"), 1)
    assert cache.uids() == {"u", "v"}
    assert (len(cache.snapshot("u").containers), len(cache.snapshot("v").sandboxes)) == (3, 3)
    assert cache.put_container("u", replace(EXITED, id="t://0"), 2), "what is known goes on"
    assert not PodCache().put_container("u" * 254, RUNNING, 1)


def test_an_id_stays_with_the_pod_that_it_was_first_seen_with() -> None:
    cache = PodCache()
    cache.put_container("u", RUNNING, 1)
    assert not cache.put_container("v", EXITED, 2)
    assert not cache.put_as_listed("v", RUNNING, 2)
    assert (cache.owner(RUNNING.id), cache.uids()) == ("u", {"u"})
    cache.drop("u", RUNNING.id)
    assert cache.owner(RUNNING.id) is None
    cache.put_sandbox("u", SANDBOX, 3)
    cache.forget("u")
    assert cache.put_sandbox("v", SANDBOX, 4)


def test_a_report_replaces_what_the_list_alone_said() -> None:
    cache = PodCache()
    assert cache.put_as_listed("u", RUNNING, 1)
    assert not cache.put_as_listed("u", RUNNING, 2)
    created = replace(RUNNING, state=State.CREATED)
    assert cache.put_container("u", created, 3), "the list may have been wrong"
    assert not cache.put_as_listed("u", RUNNING, 4)
    assert cache.snapshot("u").containers == (created,)
    listed = replace(SANDBOX, ready=False, ip=None)
    assert cache.put_as_listed("u", listed, 5)
    assert cache.put_sandbox("u", SANDBOX, 6)
    assert cache.snapshot("u").sandboxes == (SANDBOX,)
