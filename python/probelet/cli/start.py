"""How the services of the command line begin: log, configuration, endpoint, in this order and with the same words."""

from pathlib import Path
from typing import TYPE_CHECKING

from probelet.cli.config import read_config
from probelet.cli.exit import CliError

if TYPE_CHECKING:
    from probelet.cli.logging import Format, Level
    from probelet.config import Config


def begin(
    verb: str,
    *,
    log_format: "Format",
    log_level: "Level",
    config: Path | None,
    config_dir: Path | None,
    feature_gates: str | None,
    kubelet_version: str,
    strict_config: bool,
    endpoint: str | None,
    otherwise: str = "",
) -> "Config":
    """Set the log up, read the configuration and log its warnings; returns it.

    ``endpoint`` is the ``--runtime`` that has to be a CRI socket, None if it has not; ``otherwise`` is what the error
    says could stand there instead. Raises CliError.
    """
    import os
    import sys

    import structlog

    from probelet.cli.logging import set_up_logging
    from probelet.cri.client import socket_of

    set_up_logging(log_format, log_level, colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ)
    configuration = read_config(config, config_dir, feature_gates, kubelet_version, strict=strict_config)
    try:
        if endpoint is not None:
            socket_of(endpoint)
    except ValueError as error:
        raise CliError(f"--runtime: {error}{otherwise}") from error
    for warning in configuration.warnings:
        structlog.get_logger(f"probelet.{verb}").warning(str(warning))
    return configuration
