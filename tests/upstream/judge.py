"""Compares the runs: what is red, and what is slower than native by more than a second."""

from collections.abc import Iterator, Mapping

from tests.upstream.explanation import Difference
from tests.upstream.row import Result
from tests.upstream.side import Side

SLOWER_SECONDS = 1.0


def differences(results: Mapping[Side, Result]) -> Iterator[Difference]:
    """In the order of the tests. A test that a run lacks is red there. The slower of two native runs counts."""
    before = results[Side.NATIVE].before
    names = sorted({name for result in results.values() for name in result.rows})
    for name in names:
        native = results[Side.NATIVE].rows.get(name)
        for side, result in results.items():
            row = result.rows.get(name)
            if row is None:
                yield Difference(side, name, "red", words="did not run")
            elif not row.passed:
                yield Difference(side, name, "red", words=f"{row.state}: {row.failure}")
            elif native is not None and native.passed and side is not Side.NATIVE:
                seconds = max(native.seconds, before.get(name, 0.0))
                if row.seconds - seconds > SLOWER_SECONDS:
                    more = round(row.seconds - seconds, 1)
                    words = f"{seconds} s native, {row.seconds} s"
                    yield Difference(side, name, "slower", more, row.probes.moved, words)
