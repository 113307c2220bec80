"""The node with real processes and the real command line, for the few tests that need them."""

from tests.e2e.cli.conftest import marker, start
from tests.e2e.run.conftest import node

__all__ = ["marker", "node", "start"]
