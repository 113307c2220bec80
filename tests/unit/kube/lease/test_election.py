"""The decision about a lease, without a server: random clocks, and two candidates that never lead together."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from probelet.kube.lease.election import DURATION_SECONDS, Election
from probelet.spec.text.duration import SECOND

Object = dict[str, Any]
WALL = 1_795_000_000 * SECOND


def lease(version: int, spec: Object) -> Object:
    return {"metadata": {"resourceVersion": str(version)}, "spec": spec}


def test_the_first_candidate_leads() -> None:
    election = Election("a")
    election.observe(None, 0)
    assert election.bid(0, WALL) == {
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-11-18T11:06:40.000000Z",
        "renewTime": "2026-11-18T11:06:40.000000Z",
        "leaseTransitions": 0,
    }


def test_a_leader_keeps_the_time_when_it_began() -> None:
    election = Election("a")
    election.observe(lease(1, {"holderIdentity": "a", "acquireTime": "then", "leaseTransitions": 4}), 0)
    bid = election.bid(5 * SECOND, WALL)
    assert bid is not None
    assert (bid["acquireTime"], bid["leaseTransitions"]) == ("then", 4)


def test_another_leader_is_left_alone_until_it_was_silent_for_its_duration() -> None:
    election = Election("a")
    held = lease(1, {"holderIdentity": "b", "leaseDurationSeconds": 15, "leaseTransitions": 4})
    # The times in the lease are those of another machine, and do not count.
    held["spec"]["renewTime"] = "1999-01-01T00:00:00.000000Z"
    election.observe(held, 0)
    assert election.bid(0, WALL) is None
    assert election.leader == "b"
    election.observe(held, 14 * SECOND)
    assert election.bid(15 * SECOND - 1, WALL) is None
    bid = election.bid(15 * SECOND, WALL)
    assert bid is not None
    assert (bid["holderIdentity"], bid["leaseTransitions"]) == ("a", 5)


def test_a_renewal_is_a_sign_of_life() -> None:
    election = Election("a")
    spec = {"holderIdentity": "b", "leaseDurationSeconds": 15}
    election.observe(lease(1, spec), 0)
    election.observe(lease(2, spec), 14 * SECOND)
    assert election.bid(28 * SECOND, WALL) is None
    assert election.bid(29 * SECOND, WALL) is not None


def test_a_released_lease_is_free_at_once() -> None:
    leader, candidate = Election("a"), Election("b")
    leader.observe(lease(1, {"holderIdentity": "a"}), 0)
    spec = leader.release(WALL)
    assert spec is not None
    candidate.observe(lease(2, spec), 0)
    assert candidate.bid(0, WALL) is not None
    assert candidate.release(WALL) is None, "it does not lead yet"


class Server:
    """One lease, written only with the version that was read."""

    def __init__(self) -> None:
        self.lease: Object | None = None

    def write(self, read: Object | None, spec: Object) -> Object | None:
        if read is not self.lease:
            return None
        version = int(read["metadata"]["resourceVersion"]) + 1 if read else 1
        self.lease = lease(version, spec)
        return self.lease


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 20), st.booleans(), st.integers(0, 3)), min_size=1, max_size=60
    ),
    st.integers(-(10**6), 10**6),
)
def test_two_candidates_never_lead_together(steps: list[tuple[int, int, bool, int]], skew_seconds: int) -> None:
    """Each step: a candidate tries after some seconds; it may fail to read, or be slow between reading and writing.

    Leading means: the last write that succeeded *began* less than the duration ago, by the candidate's own clock.
    """
    server, elections = Server(), [Election("a"), Election("b")]
    leads_until = [0, 0]
    now = 0
    for who, seconds, reaches, slow in steps:
        now += seconds * SECOND
        clock = now + who * skew_seconds * SECOND
        if not reaches:
            continue
        began, read = now, server.lease
        elections[who].observe(read, clock)
        now += slow * SECOND
        bid = elections[who].bid(clock, WALL + clock)
        if bid is None:
            continue
        written = server.write(read, bid)
        if written is not None:
            elections[who].observe(written, now + who * skew_seconds * SECOND)
            leads_until[who] = began + DURATION_SECONDS * SECOND
            assert leads_until[1 - who] <= now
