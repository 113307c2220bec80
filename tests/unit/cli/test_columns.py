"""Which columns of a table a terminal has room for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from probelet.cli.columns import GAP, Column, fit

TABLE = (
    Column("NAME", (12, 8)),
    Column("READY"),
    Column("STATE", (16, 10)),
    Column("AGE", (6,), leaves=2),
    Column("LATE", leaves=1),
    Column("PROBES"),
)
WANTED = (40, 3, 20, 12, 4, 11)


def heads(widths: dict[int, int]) -> list[str]:
    return [TABLE[index].head for index in widths]


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (200, {"NAME": 40, "READY": 5, "STATE": 20, "AGE": 12, "LATE": 4, "PROBES": 11}),
        # The name gives way first, then the state, then the age.
        (80, {"NAME": 18, "READY": 5, "STATE": 20, "AGE": 12, "LATE": 4, "PROBES": 11}),
        (74, {"NAME": 12, "READY": 5, "STATE": 20, "AGE": 12, "LATE": 4, "PROBES": 11}),
        (70, {"NAME": 12, "READY": 5, "STATE": 16, "AGE": 12, "LATE": 4, "PROBES": 11}),
        (64, {"NAME": 12, "READY": 5, "STATE": 16, "AGE": 6, "LATE": 4, "PROBES": 11}),
        # The lateness leaves, and the others get its room; then the age does.
        (63, {"NAME": 12, "READY": 5, "STATE": 16, "AGE": 11, "PROBES": 11}),
        (57, {"NAME": 15, "READY": 5, "STATE": 20, "PROBES": 11}),
        (40, {"NAME": 8, "READY": 5, "STATE": 10, "PROBES": 11}),
        # There is nothing left to cut.
        (20, {"NAME": 8, "READY": 5, "STATE": 10, "PROBES": 11}),
    ],
)
def test_the_least_important_columns_give_way_first(width: int, expected: dict[str, int]) -> None:
    found = fit(TABLE, WANTED, width)
    assert dict(zip(heads(found), found.values(), strict=True)) == expected


@given(wanted=st.lists(st.integers(0, 60), min_size=len(TABLE), max_size=len(TABLE)), width=st.integers(1, 250))
def test_a_table_is_no_wider_than_it_has_to_be(wanted: list[int], width: int) -> None:
    widths = fit(TABLE, wanted, width)
    whole = {index: max(cells, len(TABLE[index].head)) for index, cells in enumerate(wanted)}
    least = {index: min((*TABLE[index].least[-1:], whole[index])) for index in widths}
    assert all(least[index] <= widths[index] <= whole[index] for index in widths)
    kept = [column.head for column in TABLE if not column.leaves]
    assert [head for head in heads(widths) if head in kept] == kept
    if sum(widths.values()) + len(GAP) * (len(widths) - 1) > width:
        assert heads(widths) == kept, "everything that may leave has left"
        assert widths == least
    assert set(widths) <= set(fit(TABLE, wanted, width + 1)), "a wider terminal shows no column less"
