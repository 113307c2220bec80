"""The upstream row of a test that is one case: its test id."""

import pytest


def row(*ids: str) -> pytest.MarkDecorator:
    """Make one test of each row; the test takes it as ``row``."""
    return pytest.mark.parametrize("row", ids)
