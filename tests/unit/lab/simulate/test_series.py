"""The points of a Service's series: totals and the lowest endpoints survive whatever is merged."""

from hypothesis import given
from hypothesis import strategies as st
from probelet.lab.picture.document import SERIES_POINTS_MAX, SeriesRow
from probelet.lab.simulate.rows.series import series
from probelet.virtual.cluster import LoadStep, Requests, ServiceRecord

rates = st.floats(0, 1000).map(lambda rate: round(rate, 3))


@st.composite
def services(draw: st.DrawFn) -> tuple[ServiceRecord, float]:
    steps = draw(st.integers(1, 1_500))
    width = draw(st.sampled_from([0.25, 1.0, 30.0]))
    begin = draw(st.sampled_from([0.0, 20.0]))
    pattern = draw(st.lists(st.tuples(rates, st.floats(0, 1)), min_size=1, max_size=40))
    load = []
    for number in range(steps):
        rate, lost = pattern[number % len(pattern)]
        start = begin + number * width
        load.append(LoadStep(start, start + width, rate, rate * (1 - lost), 0.0, rate * lost))
    end = begin + steps * width
    times = sorted({round(at, 3) for at in draw(st.lists(st.floats(0, end - 0.01), max_size=30))})
    endpoints = [(at, draw(st.integers(0, 5))) for at in times]
    return ServiceRecord("web", "web", 1.0, 0.5, Requests(), load, endpoints, [(0.0, 5)]), end


def widths(row: SeriesRow, end: float) -> list[float]:
    return [after - at for at, after in zip(row["t"], [*row["t"][1:], end], strict=True)]


@given(services())
def test_totals_order_and_bound(drawn: tuple[ServiceRecord, float]) -> None:
    service, end = drawn
    row = series(service, end)
    assert row["t"][0] == 0
    assert row["t"] == sorted(set(row["t"]))
    assert len(row["t"]) <= SERIES_POINTS_MAX
    assert {len(row[name]) for name in row} == {len(row["t"])}  # type: ignore[literal-required]
    for name in ("offered", "served", "lost"):
        total = sum(getattr(step, name) * (step.end - step.start) for step in service.load)
        shown = sum(rate * width for rate, width in zip(row[name], widths(row, end), strict=True))  # type: ignore[literal-required]
        # A rate has three decimals, and a point's time too.
        assert abs(shown - total) <= 0.001 * end + 2 * len(row["t"]) + 0.002 * total


@given(services())
def test_the_lowest_number_of_endpoints_survives(drawn: tuple[ServiceRecord, float]) -> None:
    service, end = drawn
    row = series(service, end)
    if service.endpoints:
        assert min(row["endpoints"]) <= min(count for _, count in service.endpoints)


def test_equal_neighbours_are_one_point() -> None:
    load = [LoadStep(n / 2, n / 2 + 0.5, 100.0, 100.0, 0.0, 0.0) for n in range(2_000)]
    row = series(ServiceRecord("web", "web", 1.0, 0.5, Requests(), load, [(0.0, 3)], [(0.0, 3)]), 1_000.0)
    assert (row["t"], row["offered"], row["endpoints"]) == ([0.0], [100.0], [3])
