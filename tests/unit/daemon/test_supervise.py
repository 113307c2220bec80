"""The parent of an agent: how long it waits, and what it says."""

import json

import pytest
from probelet.daemon.supervise import delay, report


def test_the_first_start_is_at_once_and_no_wait_is_longer_than_ten_seconds() -> None:
    assert [delay(deaths) for deaths in range(1, 9)] == [0, 1, 2, 4, 8, 10, 10, 10]


@pytest.mark.parametrize(("code", "cause"), [(-9, "SIGKILL"), (3, "exit code 3")])
def test_its_line_is_one_of_the_log(capfd: pytest.CaptureFixture[str], code: int, cause: str) -> None:
    report("json", code, 12.34, 4)
    report("text", code, 12.34, 4)
    in_json, in_text = capfd.readouterr().err.splitlines()
    row = json.loads(in_json)
    assert row.pop("at").endswith("Z")
    assert row == {
        "cause": cause,
        "lived_seconds": 12.3,
        "in_seconds": 4,
        "level": "warning",
        "message": "the agent died and is started again",
    }
    assert f"the agent died and is started again cause='{cause}' lived_seconds=12.3 in_seconds=4" in in_text
