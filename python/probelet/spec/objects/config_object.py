"""One ConfigMap or Secret, and the set of all that stand in the manifests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["ConfigMap", "Secret"]
Key: TypeAlias = tuple[Kind, str, str]
"""Kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class ConfigObject:
    """An object whose keys containers may have as variables."""

    kind: Kind
    namespace: str
    name: str
    data: Mapping[str, bytes] = field(repr=False)
    """The values for variables: of a ConfigMap its ``data``, of a Secret ``data`` and ``stringData``."""
    path: Path
    line: int
    """First line in the file, from 1."""

    @property
    def key(self) -> Key:
        """The identity of the object."""
        return self.kind, self.namespace, self.name


Objects: TypeAlias = Mapping[Key, ConfigObject]


class ObjectStore:
    """The objects in force. A reader in another thread sees one whole set or the next."""

    def __init__(self) -> None:
        self.objects: Objects = {}
