"""The microbenchmarks' part of the page."""


def lines() -> list[str]:
    return []
