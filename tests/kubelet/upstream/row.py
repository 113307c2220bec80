"""Puts the row of upstream-cases.md into the id of a test that is one case."""

import pytest


def row(*ids: str) -> pytest.MarkDecorator:
    """Makes one test for each row of ``ids``; the test has a parameter ``row``."""
    return pytest.mark.parametrize("row", ids)
