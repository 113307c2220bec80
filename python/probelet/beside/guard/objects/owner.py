"""The controller of an object."""

from collections.abc import Iterable

import msgspec

from probelet.spec.model.meta import OwnerReference


class Owner(msgspec.Struct, frozen=True, gc=False):
    """The ownerReference with ``controller: true``."""

    api_version: str
    kind: str
    name: str
    uid: str

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]


def controller_of(references: Iterable[OwnerReference]) -> Owner | None:
    """The owner that controls an object; None without one."""
    for each in references:
        if each.controller:
            return Owner(each.api_version, each.kind, each.name, each.uid)
    return None
