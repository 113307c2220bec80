"""Errors between the service and its clients; each message is one line for a person."""

from probelet.errors import ProbeletError


class ServerError(ProbeletError):
    """The server cannot listen, or cannot use its state directory. The message is one line and names the option."""


class NotRunningError(ProbeletError):
    """No service answers on the control socket. The message is one line and names the state directory."""


class UntrustedServiceError(NotRunningError):
    """What is in the place of the service may be another user's, so it is not asked."""
