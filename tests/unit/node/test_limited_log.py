"""Lines that a runtime causes come at a bounded rate, and none is lost without a count."""

from typing import Any

from probelet.node.limited_log import LINE_NS, LINES_BURST, LimitedLog


class Lines(list[dict[str, Any]]):
    def warning(self, event: str, **values: Any) -> None:
        self.append({"event": event, **values})


def test_lines_beyond_the_burst_are_counted_in_the_next_one() -> None:
    lines, now = Lines(), 0
    log = LimitedLog(lines, lambda: now)
    for number in range(LINES_BURST + 5):
        log.warning("cannot be read", id=number)
    assert [line["id"] for line in lines] == list(range(LINES_BURST))
    now = LINE_NS
    log.warning("cannot be read", id=99)
    log.warning("cannot be read", id=100)
    assert lines[-1] == {"event": "cannot be read", "id": 99, "lines_left_out": 5}
    now = 2 * LINE_NS
    log.warning("cannot be read", id=101)
    assert lines[-1] == {"event": "cannot be read", "id": 101, "lines_left_out": 1}
