"""The configuration in a ConfigMap: read again with each change; a malformed one leaves the last good one in force."""

from collections.abc import Mapping
from typing import Final

import structlog
from msgspec.structs import replace

from probelet.beside.guard.restart.settings.config import Config
from probelet.beside.guard.restart.settings.read import read_settings

log = structlog.get_logger("probelet.controller")

WHY_NONE: Final = "there is no good configuration yet, so nothing is restarted"


class Settings:
    """The configuration in force. Without a ConfigMap it is the default."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._good: Config | None = None
        self.mistakes: list[str] = []
        """The mistakes of the ConfigMap as it is now, one line each; empty for a good one."""

    def update(self, data: Mapping[str, str] | None) -> Config:
        """Reads the data of the ConfigMap, None if it does not exist; returns the configuration in force."""
        config, lines = read_settings(data or {})
        for line in lines:
            (log.error if config is None else log.warning)("configuration", config_map=self._name, problem=line)
        self.mistakes = lines if config is None else []
        if config is not None:
            self._good = config
        # A person whose configuration cannot be read may have meant to switch everything off.
        return self._good or replace(Config(), enabled=False)

    @property
    def why_not_ready(self) -> str | None:
        """Why nothing can be restarted, in one line; None if the configuration is no reason."""
        if self._good is None and self.mistakes:
            return f"{WHY_NONE}: {self._name}: {self.mistakes[0]}"
        return None
