"""The judge of the runs of upstream's tests, and what the page shows of it."""

from pathlib import Path

import pytest

from tests.upstream.explanation import Explanation, explained, explanations
from tests.upstream.judge import differences
from tests.upstream.page import rendered
from tests.upstream.row import Probes, Result, Row, read, write
from tests.upstream.side import Side

FILE = """
- tests: ^Probing container / restarts$
  sides: [taken-over]
  kind: slower
  seconds: 20
  why: A back-off
    of the kubelet.
- tests: /
  sides: [taken-over, enhanced]
  kind: slower
  seconds: 2.5
  why: The tests look every two seconds.
"""
PAGE = "Words.\n<!-- runs -->\nold\n<!-- end -->\n<!-- tests -->\n<!-- end -->\n" + (
    "<!-- reasons -->\n<!-- end -->\n<!-- stayed -->\n<!-- end -->\nMore words.\n"
)


def row(test: str, seconds: float, state: str = "passed", **more: object) -> Row:
    return Row(group="Probing container", test=test, state=state, seconds=seconds, **more)  # type: ignore[arg-type]


def results(
    native: list[Row], taken: list[Row], enhanced: list[Row], served: list[Row] | None = None
) -> dict[Side, Result]:
    """The runs; ``served`` is a run like the native one, if a test says nothing else."""
    return {
        side: Result("abc", 1.0, 6, {one.name: one for one in rows})
        for side, rows in zip(Side, (native, taken, enhanced, native if served is None else served), strict=True)
    }


@pytest.fixture
def known(tmp_path: Path) -> list[Explanation]:
    file = tmp_path / "explanations.yaml"
    file.write_text(FILE)
    return explanations(file)


def test_a_test_that_is_a_second_slower_is_no_difference() -> None:
    assert list(differences(results([row("restarts", 10)], [row("restarts", 11)], [row("restarts", 5)]))) == []


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [(12.0, "A back-off of the kubelet."), (30.0, "A back-off of the kubelet."), (30.5, None)],
)
def test_a_slower_test_needs_a_reason_that_covers_its_seconds(
    known: list[Explanation], seconds: float, reason: str | None
) -> None:
    (found,) = differences(results([row("restarts", 10)], [row("restarts", seconds)], [row("restarts", 10)]))
    assert (found.side, found.kind) == (Side.TAKEN, "slower")
    assert getattr(explained(found, known), "why", None) == reason


@pytest.mark.parametrize(
    ("probes", "covered"), [(Probes(native=2), True), (Probes(1, 1), False), (Probes(1, 0, 1), False)]
)
def test_a_reason_for_native_probes_covers_no_test_with_a_probe_that_moved(
    tmp_path: Path, probes: Probes, covered: bool
) -> None:
    file = tmp_path / "explanations.yaml"
    file.write_text("- {tests: /, sides: [taken-over], kind: slower, seconds: 9, native: true, why: Chance.}")
    slow = row("restarts", 12, probes=probes)
    (found,) = differences(results([row("restarts", 10)], [slow], [row("restarts", 10)]))
    assert (explained(found, explanations(file)) is not None) == covered


@pytest.mark.parametrize("state", ["failed", "panicked", "timedout", "interrupted"])
def test_a_red_test_is_not_excused_by_a_reason_for_slowness(known: list[Explanation], state: str) -> None:
    red = row("restarts", 10, state, failure="no")
    (found,) = differences(results([row("restarts", 10)], [red], [row("restarts", 10)]))
    assert (found.kind, found.words) == ("red", f"{state}: no")
    assert explained(found, known) is None


def test_the_slower_of_two_native_runs_counts(tmp_path: Path) -> None:
    for seconds in (7.0, 12.0, 10.0):
        write(Side.NATIVE, "abc", 1.0, 6, [row("restarts", seconds), row("fails", 1, "failed")], tmp_path)
    native = read(Side.NATIVE, tmp_path)
    assert native.before == {"Probing container / restarts": 12.0}
    taken = [row("restarts", 12.5), row("fails", 9)]
    every = {**results([], taken, taken, taken), Side.NATIVE: native}
    assert [(one.side, one.kind) for one in differences(every)] == [(Side.NATIVE, "red")]
    page = rendered(PAGE, every, list(differences(every)), [])
    assert "differ by more than 1 s in 1 of 1 tests, and by at most 2.0 s" in page
    assert "| restarts | 10.0 s, 12.0 s | 12.5 s | 12.5 s | 12.5 s |" in page


def test_a_test_that_did_not_run_is_red() -> None:
    found = list(differences(results([row("restarts", 10)], [row("restarts", 10)], [])))
    assert [(one.side, one.kind, one.words) for one in found] == [(Side.ENHANCED, "red", "did not run")]


def test_a_native_run_that_is_red_is_red() -> None:
    slow = [row("restarts", 9)]
    found = list(differences(results([row("restarts", 1, "failed")], slow, slow, slow)))
    assert [(one.side, one.kind) for one in found] == [(Side.NATIVE, "red")]


def test_the_page_has_every_test_and_the_number_of_each_reason(known: list[Explanation]) -> None:
    stayed = ['container "a" has restartPolicy Never', 'container "b" has restartPolicy Never']
    native = [row("restarts", 10, probes=Probes(native=2)), row("is *not* restarted", 3)]
    taken = [row("restarts", 29, probes=Probes(1, 1)), row("is *not* restarted", 9, stayed=stayed)]
    every = results(native, taken, [row("restarts", 12)])
    page = rendered(PAGE, every, list(differences(every)), known)
    assert "| restarts | 10.0 s | 29.0 s ([1](#reasons)) | 12.0 s ([2](#reasons)) | 10.0 s |" in page
    assert "| is \\*not\\* restarted | 3.0 s | 9.0 s **(no reason)** | did not run **(no reason)** | 3.0 s |" in page
    assert "| native | 2 | 2 | 2 | 0 | 0 | 0 | `abc` | 6 | 1 |" in page
    assert "| container has restartPolicy Never | 1 |" in page
    assert "\n1. A back-off of the kubelet.\n" in page
    assert page.startswith("Words.\n")
    assert page.endswith("More words.\n")
    assert rendered(page, every, list(differences(every)), known) == page


def test_a_kept_run_is_read_as_it_was(tmp_path: Path) -> None:
    rows = [row("restarts", 10.5, probes=Probes(1, 2, 3)), row("fails", 1, "failed", failure='a "word"')]
    write(Side.TAKEN, "abc", 2.5, 6, rows, tmp_path)
    assert read(Side.TAKEN, tmp_path) == Result("abc", 2.5, 6, {one.name: one for one in rows})


def test_each_reason_of_the_file_names_what_it_covers() -> None:
    for one in explanations():
        assert one.sides
        assert one.why.endswith(".")
        assert (one.kind == "slower") == (one.seconds > 0)
