"""What becomes of a test whose part of the machine is missing."""

import pytest

from tests.support.required import missing


def test_it_is_skipped_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBELET_REQUIRE", "containerd")
    with pytest.raises(pytest.skip.Exception, match="needs go: not found"):
        missing("go", "not found")


@pytest.mark.parametrize("promised", ["go", "containerd, go"])
def test_it_fails_where_the_machine_promised_it(promised: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBELET_REQUIRE", promised)
    with pytest.raises(pytest.fail.Exception, match="lists go: not found"):
        missing("go", "not found")
