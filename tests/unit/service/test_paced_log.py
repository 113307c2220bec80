"""A line that others can cause is written once a second."""

from typing import Any

from probelet.base.exposition.paced_log import PacedLog


def test_a_line_is_written_once_a_second_with_the_count_of_the_others() -> None:
    written: list[dict[str, Any]] = []
    seconds = 0.0
    paced = PacedLog(lambda text, **fields: written.append({"text": text, **fields}), "refused", lambda: seconds)
    for _ in range(1_000):
        paced(user=7)
    seconds = 1.0
    paced(user=8)
    seconds = 2.5
    paced(user=9)
    assert written == [
        {"text": "refused", "user": 7},
        {"text": "refused", "user": 8, "more": 999},
        {"text": "refused", "user": 9},
    ]
