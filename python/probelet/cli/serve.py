"""``probelet serve``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from probelet.cli.exit import CliError
from probelet.cli.options import (
    ConfigDir,
    ConfigFile,
    Duration,
    FeatureGates,
    KubeletVersion,
    LogFormat,
    LogLevel,
    StateDir,
    StrictConfig,
)
from probelet.cli.verb import verb

app = verb(
    "serve",
    "For a node agent that keeps pods and statuses itself and hands over their\n"
    "probing: gRPC on a unix socket (proto/probelet/v1/prober.proto), open to this\n"
    "user and root. Exec probes are carried out by the caller, or by the runtime\n"
    "behind --runtime. SIGTERM or Ctrl-C ends it; nothing is done to any pod.",
    "probelet serve --socket /run/probelet/prober.sock",
    "probelet serve --runtime unix:///run/containerd/containerd.sock",
)


@app.default
def serve(
    *,
    socket: Annotated[
        Path | None, Parameter(name="--socket", metavar="PATH", help="Default: prober.sock in the state directory.")
    ] = None,
    runtime: Annotated[
        str | None, Parameter(metavar="RUNTIME", help="A CRI socket for exec probes: unix:///...")
    ] = None,
    config: ConfigFile = None,
    config_dir: ConfigDir = None,
    feature_gates: FeatureGates = None,
    strict_config: StrictConfig = False,
    kubelet_version: KubeletVersion = "1.36",
    state_dir: StateDir = None,
    duration: Duration = None,
    log_format: LogFormat = "text",
    log_level: LogLevel = "info",
) -> int:
    import os
    import sys

    import structlog

    from probelet.cli.config import read_config
    from probelet.cli.logging import set_up_logging
    from probelet.cli.serving import Serving, carry_out
    from probelet.cri.client import socket_of
    from probelet.server.error import ServerError
    from probelet.server.state_dir import default_state_dir, locked_state_dir

    set_up_logging(log_format, log_level, colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ)
    configuration = read_config(config, config_dir, feature_gates, kubelet_version, strict=strict_config)
    try:
        if runtime is not None:
            socket_of(runtime)
    except ValueError as error:
        raise CliError(f"--runtime: {error}") from error
    for warning in configuration.warnings:
        structlog.get_logger("probelet.serve").warning(str(warning))
    try:
        with locked_state_dir(state_dir or default_state_dir()) as locked:
            serving = Serving(configuration, socket or locked / "prober.sock", runtime, duration)
            return carry_out(serving, locked)
    except ServerError as error:
        raise CliError(str(error)) from error
