"""The fixture ``release`` of every module here."""

from tests.system.packages.release import release

__all__ = ["release"]
