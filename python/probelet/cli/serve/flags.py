"""The flags that several services share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from probelet.cli.exit import CliError
from probelet.cli.options import KubeletVersion, NamedPath

if TYPE_CHECKING:
    from probelet.config import Config


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ConfigFlags:
    """The configuration's files, and the options that override them."""

    config: Annotated[
        NamedPath | None, Parameter(metavar="FILE", help="File with Kubelet- and ProbeletConfiguration.")
    ] = None
    config_dir: Annotated[NamedPath | None, Parameter(metavar="DIR", help="Drop-ins (*.conf), merged by name.")] = None
    feature_gates: Annotated[str | None, Parameter(metavar="GATES", help="Name=true,Other=false; overrides files.")] = (
        None
    )
    strict_config: Annotated[
        bool, Parameter(negative="", show_default=False, help="Refuse mistakes that the kubelet only warns of.")
    ] = False
    kubelet_version: KubeletVersion = "1.36"

    def read(self) -> "Config":
        """Loads the configuration; a CliError with one line per mistake ends the verb."""
        from probelet.config import ConfigError, load_config

        try:
            return load_config(
                self.config,
                config_dir=self.config_dir,
                feature_gates=self.feature_gates,
                strict=self.strict_config,
                kubelet_version=self.kubelet_version,
            )
        except ConfigError as error:
            raise CliError(*map(str, error.problems)) from error


CONFIG = ConfigFlags()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LogFlags:
    """Format and level of the log on stderr."""

    log_format: Annotated[Literal["text", "json"], Parameter(help="Form of the log on stderr.")] = "text"
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Parameter(help="Least level to log.")] = "info"

    def set_up(self) -> None:
        """Sets up the log; it has colours if stderr is a terminal and NO_COLOR is unset."""
        import os
        import sys

        from probelet.daemon.logging import set_up_logging

        set_up_logging(self.log_format, self.log_level, colors=sys.stderr.isatty() and "NO_COLOR" not in os.environ)


LOG = LogFlags()


@Parameter(name="*")
@dataclass(frozen=True)
class ManifestFlags:
    """Which pods the manifests give, and what a mistake costs."""

    replicas: Annotated[
        bool, Parameter(negative="", help="As many pods of a workload as it asks for: NAME-0, NAME-1 ...")
    ] = False
    strict: Annotated[bool, Parameter(negative="", help="Refuse to start if any manifest has a mistake.")] = False


MANIFESTS = ManifestFlags()
