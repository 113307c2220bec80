"""One change that may help."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from probelet.lab.scenario.behave import asks_of
from probelet.lab.scenario.model import Container, Scenario
from probelet.lab.simulate.manifests import Workload
from probelet.spec.model.probe import ProbeType


@dataclass(frozen=True)
class Change:
    """A change of some fields of one object, or of what the code behind some probes asks."""

    id: str
    workload: Workload
    path: str
    """The field that it is about, by its path in the object."""
    old: str
    """The old value as YAML on one line; empty if the manifest does not have the field."""
    new: str
    why: str
    """One sentence without its full stop."""
    fields: Mapping[str, Any]
    """The new values by their paths; None takes a field out. Empty for a change of the code."""
    container: str = ""
    """The container whose probes change."""
    asks_less: tuple[ProbeType, ...] = ()
    """The probes that ask no dependency any more."""

    def scenario(self, scenario: Scenario) -> Scenario:
        """The scenario after a change of the code."""
        if not self.asks_less:
            return scenario
        container = next(each for each in self.workload.template.containers if each.name == self.container)
        asks = asks_of(scenario, self.workload.name, container)
        less: dict[str, list[str]] = {name: [] for name in self.asks_less}
        match = f"{self.workload.name}/{self.container}"
        entry = Container(match=match, asks=msgspec.structs.replace(asks, **less))
        return msgspec.structs.replace(scenario, containers=[*scenario.containers, entry])
