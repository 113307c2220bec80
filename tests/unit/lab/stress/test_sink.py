from probelet.lab.stress.sink import ApiSink

SECOND = 1_000_000_000


def test_without_a_limit_each_change_is_written_once() -> None:
    sink = ApiSink(0)
    for at, status in enumerate(["a", "a", "b", "a"]):
        sink.offer(at, "pod", status)
        assert sink.write(at) is None
    assert (sink.changes, sink.writes, sink.ages_ns) == (3, 3, [0, 0, 0])


def test_a_status_that_changes_again_before_its_write_is_written_once() -> None:
    sink = ApiSink(0)
    for status in ("a", "b", "c"):
        sink.offer(0, "pod", status)
    assert sink.write(5) is None
    assert (sink.changes, sink.writes, sink.ages_ns) == (3, 1, [5])


def test_a_client_of_5_qps_writes_its_burst_and_then_one_in_200_ms_in_turn() -> None:
    sink = ApiSink(5)
    for number in range(13):
        sink.offer(0, f"pod-{number}", "a")
    again = sink.write(0)
    assert (sink.writes, sink.waiting_max, again) == (10, 13, SECOND // 5)
    while again is not None:
        again = sink.write(again)
    assert (sink.writes, sink.ages_ns[10:]) == (13, [200_000_000, 400_000_000, 600_000_000])


def test_writes_are_counted_per_ten_seconds() -> None:
    sink = ApiSink(0)
    for at in (0, 9, 10, 35):
        sink.offer(at * SECOND, "pod", at)
        sink.write(at * SECOND)
    assert dict(sink.writes_in) == {0: 2, 1: 1, 3: 1}


def test_a_pod_that_is_gone_is_not_written() -> None:
    sink = ApiSink(0)
    sink.offer(0, "pod", "a")
    sink.forget("pod")
    assert sink.write(0) is None
    assert sink.writes == 0
