"""The former name of ``probelet.virtual.cluster``, for code that imports its public names from here."""

from probelet.virtual.cluster import *  # noqa: F403
from probelet.virtual.cluster import __all__ as __all__
