"""The start that the services share: log, configuration, endpoint, in this order and with the same messages."""

from typing import TYPE_CHECKING

from probelet.cli.exit import CliError
from probelet.cli.serve.config_flags import ConfigFlags
from probelet.cli.serve.log_flags import LogFlags

if TYPE_CHECKING:
    from probelet.config import Config


def begin(verb: str, config: ConfigFlags, log: LogFlags, *, endpoint: str | None, otherwise: str = "") -> "Config":
    """Sets up the log, loads the configuration and logs its warnings; returns the configuration.

    ``endpoint`` is a ``--runtime`` that must be a CRI socket, or None; ``otherwise`` names the alternative in the error
    message. Raises CliError.
    """
    import structlog

    from probelet.cri.client import socket_of

    log.set_up()
    configuration = config.read()
    try:
        if endpoint is not None:
            socket_of(endpoint)
    except ValueError as error:
        raise CliError(f"--runtime: {error}{otherwise}") from error
    for warning in configuration.warnings:
        structlog.get_logger(f"probelet.{verb}").warning(str(warning))
    return configuration
