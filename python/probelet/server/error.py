"""What can go wrong between the service and those who ask it, each in one line for a person."""

from probelet.errors import ProbeletError


class ServerError(ProbeletError):
    """The server cannot listen, or cannot use its state directory. The message is one line and names the option."""


class NotRunningError(ProbeletError):
    """No service answers on the control socket. The message is one line and says where it was looked for."""
