"""The node with real processes and the real command line, for the few tests that need them."""

from tests.system.cli.conftest import marker, start
from tests.system.run.conftest import node

__all__ = ["marker", "node", "start"]
