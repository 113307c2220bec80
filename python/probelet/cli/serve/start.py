"""How the services of the command line begin: log, configuration, endpoint, in this order and with the same words."""

from typing import TYPE_CHECKING

from probelet.cli.exit import CliError
from probelet.cli.serve.config_flags import ConfigFlags
from probelet.cli.serve.log_flags import LogFlags

if TYPE_CHECKING:
    from probelet.config import Config


def begin(verb: str, config: ConfigFlags, log: LogFlags, *, endpoint: str | None, otherwise: str = "") -> "Config":
    """Set the log up, read the configuration and log its warnings; returns it.

    ``endpoint`` is the ``--runtime`` that has to be a CRI socket, None if it has not; ``otherwise`` is what the error
    says could stand there instead. Raises CliError.
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
