"""The flags about manifests."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True)
class ManifestFlags:
    """Which pods the manifests give, and what a mistake costs."""

    replicas: Annotated[
        bool, Parameter(negative="", help="As many pods of a workload as it asks for: NAME-0, NAME-1 ...")
    ] = False
    strict: Annotated[bool, Parameter(negative="", help="Refuse to start if any manifest has a mistake.")] = False


MANIFESTS = ManifestFlags()
