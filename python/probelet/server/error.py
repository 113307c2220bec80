"""Errors between the service and its clients; each message is one line for a person."""

from probelet.errors import ProbeletError


class ServerError(ProbeletError):
    """The server cannot listen, or cannot use its state directory. The message is one line and names the option."""


class NotRunningError(ProbeletError):
    """No service answers on the control socket. The message is one line and names the state directory."""


class UntrustedServiceError(NotRunningError):
    """The socket in the service's place may be another user's, so the client does not ask it."""
