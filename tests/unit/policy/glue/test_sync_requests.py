"""How often probe results may ask for a sync of one pod."""

from probelet.policy.glue.sync_requests import SYNC_BURST, SYNC_REFILL_NS, SyncRequests

SECOND = 1_000_000_000


def test_a_burst_is_granted_at_once_and_the_next_sync_waits() -> None:
    requests = SyncRequests()
    assert [requests.ask(SECOND) for _ in range(SYNC_BURST)] == [SECOND] * SYNC_BURST
    assert requests.ask(SECOND) == SECOND + SYNC_REFILL_NS


def test_requests_that_come_while_a_sync_waits_are_one_with_it() -> None:
    requests = SyncRequests()
    for _ in range(SYNC_BURST + 1):
        requests.ask(0)
    assert requests.ask(SECOND // 2) is None
    requests.begin(SYNC_REFILL_NS)
    assert requests.ask(SYNC_REFILL_NS) == 2 * SYNC_REFILL_NS, "the sync that waited has used the token"


def test_a_pod_that_was_quiet_has_its_burst_back() -> None:
    requests = SyncRequests()
    for _ in range(SYNC_BURST):
        requests.ask(0)
    later = SYNC_BURST * SYNC_REFILL_NS
    assert [requests.ask(later) for _ in range(SYNC_BURST)] == [later] * SYNC_BURST
