"""The error of a daemon that cannot start or continue."""

from probelet.errors import ProbeletError


class DaemonError(ProbeletError):
    """The daemon cannot do its work on this machine; the message is one line."""
