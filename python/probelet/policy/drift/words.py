"""A drift in words: in documents, on the page and in findings of the linter the same."""

from probelet.base.words import seconds
from probelet.policy.drift.compare import Compared


def rise(what: str, compared: Compared, release: str, limit: str) -> str:
    """``what`` are starts or answers, ``release`` is the one with which they take longer, ``limit`` is their limit's
    name."""
    return (
        f"the 99th percentile of {what} went from {seconds(compared.before)} to {seconds(compared.after)} with "
        f"{release}, the {limit} is {seconds(compared.limit)}"
    )
