"""Where a container runs, for the variables that do not follow from its pod."""

from collections.abc import Mapping
from fractions import Fraction

import msgspec

from probelet.spec.objects.config_object import Objects


class Place(msgspec.Struct, frozen=True):
    """An unknown address is empty."""

    node: str = ""
    pod_ip: str = ""
    host_ip: str = ""
    given: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Variables that the runtime sets itself. The manifest's variables replace them."""
    allocatable: Mapping[str, Fraction] = msgspec.field(default_factory=dict)
    """The node's CPUs and bytes for pods: the limits of a container that has none."""
    objects: Objects = msgspec.field(default_factory=dict)
    """The ConfigMaps and Secrets that variables may refer to."""
