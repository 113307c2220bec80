"""One change that may help, or several that are made together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
    also: tuple["Change", ...] = ()
    """The changes that are made together with this one; none of them has any itself."""

    @property
    def parts(self) -> tuple["Change", ...]:
        """This change alone, and the changes that are made with it."""
        return (replace(self, also=()), *self.also)

    @property
    def effects(self) -> frozenset[tuple[str, ...]]:
        """The effects of the change: two changes with the same ones play alike."""
        found: set[tuple[str, ...]] = set()
        for part in self.parts:
            place = (part.workload.object, part.container)
            found |= {(*place, path, repr(value)) for path, value in part.fields.items()}
            found |= {(*place, probe_type) for probe_type in part.asks_less}
        return frozenset(found)

    def scenario(self, scenario: Scenario) -> Scenario:
        """The scenario after the changes of the code."""
        for part in self.parts:
            scenario = part._alone(scenario)
        return scenario

    def _alone(self, scenario: Scenario) -> Scenario:
        if not self.asks_less:
            return scenario
        container = next(each for each in self.workload.template.containers if each.name == self.container)
        asks = asks_of(scenario, self.workload.name, container)
        less: dict[str, list[str]] = {name: [] for name in self.asks_less}
        match = f"{self.workload.name}/{self.container}"
        entry = Container(match=match, asks=msgspec.structs.replace(asks, **less))
        return msgspec.structs.replace(scenario, containers=[*scenario.containers, entry])


def joined(name: str, changes: Iterable[Change], why: str) -> Change:
    """Changes that are made together; ``name`` is the id."""
    first, *others = (part for change in changes for part in change.parts)
    return replace(first, id=name, why=why, also=tuple(others))
