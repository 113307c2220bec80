"""Why a daemon could not begin or go on."""

from probelet.errors import ProbeletError


class DaemonError(ProbeletError):
    """The daemon cannot do its work on this machine; the text is one line."""
