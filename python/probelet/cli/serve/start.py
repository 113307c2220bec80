"""The start that the services share: log, descriptors, configuration, endpoint; the same order, the same messages."""

from typing import TYPE_CHECKING

from probelet.cli.exit import CliError, Exit
from probelet.cli.serve.flags import ConfigFlags, LogFlags

if TYPE_CHECKING:
    from probelet.config import Config
    from probelet.daemon.descriptors import Descriptors


def begin(
    verb: str, config: ConfigFlags, log: LogFlags, *, endpoint: str | None, otherwise: str = ""
) -> "tuple[Config, Descriptors]":
    """Sets up the log, loads the configuration and logs its warnings.

    Returns the configuration, and how many connections the service takes.

    ``endpoint`` is a ``--runtime`` that must be a CRI socket, or None; ``otherwise`` names the alternative in the error
    message. Raises CliError.
    """
    import structlog

    from probelet.daemon.descriptors import prepare
    from probelet.errors import DaemonError
    from probelet.runtime.cri.client import socket_of

    log.set_up()
    try:
        descriptors = prepare()
    except DaemonError as error:
        raise CliError(str(error), code=Exit.CANNOT) from error
    configuration = config.read()
    try:
        if endpoint is not None:
            socket_of(endpoint)
    except ValueError as error:
        raise CliError(f"--runtime: {error}{otherwise}") from error
    for warning in configuration.warnings:
        structlog.get_logger(f"probelet.{verb}").warning(warning.line_of_log)
    return configuration, descriptors
