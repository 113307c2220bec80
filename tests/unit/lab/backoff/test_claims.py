"""KEP-4603's numbers: every verdict, and every figure computed again without the model."""

import pytest
from probelet.lab.backoff.claim import Claim, Reading, equal
from probelet.lab.backoff.kep4603 import claims

from tests.unit.lab.backoff.naive import SECOND, advertised, count, delays, shipped

FOUND = {claim.number: claim for claim in claims()}


def restarts(initial: float, longest: float, low: float, high: float, run: float = 0, *, free: bool = False) -> int:
    """Restarts in (low, high]; includes 0 if ``low`` is 0 and the first restart is free."""
    follow = shipped if free else advertised
    times = follow(round(initial * SECOND), round(longest * SECOND), 8000, round(run * SECOND))
    return count(times, -1 if free and low == 0 else round(low * SECOND), round(high * SECOND))


def bins(initial: float, longest: float) -> list[int]:
    edges = [(0, 10), (10, 30), (30, 70), (70, 150), (150, 310)]
    return [restarts(initial, longest, low, high) for low, high in edges]


NEW_STEADY = restarts(1, 60, 6000, 6300) - restarts(10, 300, 6000, 6300)
MIN_STEADY = restarts(1, 1, 600, 900) - restarts(10, 300, 6000, 6300)

# Claim -> verdict and figure.
DERIVED = {
    "1": ("holds", restarts(1, 60, 0, 300) - restarts(10, 300, 0, 300)),
    "2": ("holds if", 4 - 1),
    "3": ("holds", restarts(1, 60, 150, 300) - restarts(10, 300, 150, 300)),
    "4": ("does not hold", NEW_STEADY),
    "5": ("not derived", None),
    "6": ("holds", 110 * 5 * 1),
    "7": ("holds if", 110 * 5 * 10),
    "8": ("holds if", 10),
    "9": ("holds if", [5 * 5, 5 * 5 * 110]),
    "10": ("holds if", restarts(1, 1, 0, 310) - restarts(10, 300, 0, 310)),
    "11": ("does not hold", MIN_STEADY),
    "12": ("holds if", [310 * 5, 310 * 5 * 110]),
    "13": ("does not hold", 310 * 5 * 110 * 10 / 300),
    "14": ("holds if", restarts(10, 300, 0, 1800, 599, free=True)),
    "15a": ("holds if", restarts(10, 300, 0, 1800, 10, free=True)),
    "15b": ("holds if", restarts(10, 300, 0, 300, 10)),
    "16": ("holds", [at / SECOND for at in advertised(10 * SECOND, 300 * SECOND, 3)]),
    "17": ("holds", bins(1, 300)[:3]),
    "18a": ("holds", sum(bins(1, 300)) - 5),
    "18b": ("does not hold", sum(bins(0.025, 300)) - 5),
    "19": ("does not hold", [*(n - 1 for n in bins(1, 30)), sum(bins(1, 30)) - 5]),
    "19a": ("holds", bins(0.25, 300)),
    "19b": ("does not hold", bins(0.025, 300)),
    "19c": ("holds", bins(10, 60)),
    "19d": ("does not hold", bins(10, 30)),
    "19e": ("does not hold", bins(1, 60)),
    "20": ("holds", 600 - sum(delay for delay, _ in zip(delays(1, 300), range(5), strict=False))),
    "21": ("holds", [2 * 60, 2 * 1]),
    "21a": ("holds", "at first"),
    "22": ("not derived", None),
    "23": ("not derived", None),
    "24": ("holds", [0, 10, 20]),
    "25": ("holds", [0, 10, 20, 40, 80, 160]),
    "26": ("not derived", None),
    "27": ("does not hold", 600),
    "28": ("does not hold", "late recovery"),
}


def test_every_claim_is_judged() -> None:
    assert list(FOUND) == list(DERIVED)


@pytest.mark.parametrize("number", DERIVED)
def test_verdict_and_figure_equal_the_naive_models(number: str) -> None:
    claim = FOUND[number]
    figure = claim.reading.figure if claim.reading else None
    assert (claim.verdict, figure) == DERIVED[number]
    assert claim.sentence.startswith(claim.verdict)


@pytest.mark.parametrize(
    ("number", "parts"),
    [
        ("1", ["9 less 4", "10 less 5"]),
        ("2", ["the excess is 2"]),
        ("3", ["183, 243", "the excess is 0"]),
        ("4", ["leave 4", "3.3"]),
        ("7", ["hold 3 restarts, as shipped 4", "1,650", "2,200"]),
        ("8", ["3x, as shipped 4x"]),
        ("9", ["20 and 2,200"]),
        ("10", ["310 less 5", "300 less 4, 296"]),
        ("11", ["300 of them, less 1", "299"]),
        ("12", ["1,495 and 164,450"]),
        ("13", ["568 a second", "5683", "548 a second"]),
        ("14", ["it is 0"]),
        ("15a", ["advertised 9, shipped 10"]),
        ("15b", ["advertised 4, shipped 5"]),
        ("18b", ["8, 2, 1, 1, 1"]),
        ("19", ["3, 1, 2, 2, 6", "9 in total"]),
        ("20", ["569 s, 9.48 min"]),
        ("21a", ["start number 9"]),
        ("25", ["300 s"]),
    ],
)
def test_the_sentence_of_a_claim_has_the_corrected_numbers(number: str, parts: list[str]) -> None:
    assert [part for part in parts if part not in FOUND[number].sentence] == []


def test_a_verdict_follows_from_the_figures() -> None:
    def verdict(published: float, *readings: Reading) -> str:
        return Claim("0", "", published, readings, "").verdict

    assert verdict(5, Reading(5)) == "holds"
    assert verdict(5, Reading(4), Reading(5, "the moon is full")) == "holds if"
    assert verdict(5, Reading(4)) == "does not hold"
    assert verdict(568, Reading(568.33)) == "holds"
    assert verdict(5) == "not derived"
    assert Claim("0", "", 5, (Reading(4), Reading(3, "the moon is full")), "").reading == Reading(4), "the literal one"


def test_figures_are_equal_at_the_published_precision() -> None:
    assert equal([1, 568], [1.2, 568.33])
    assert not equal([1, 568], [1])
    assert not equal([1], 1)
    assert not equal(1, "1")
    assert not equal(568, 568.5)
    assert equal("none", "none")
