"""ObjectMeta: the fields that a prober reads."""

from typing import Annotated, Any, TypeAlias

import msgspec

# Go's fixed widths: a number outside them is a decoding error in Kubernetes too; it never wraps around.
Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

# A field of the Kubernetes API that probelet passes on without reading it.
Opaque: TypeAlias = Any


class Object(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """Base of every Kubernetes type here: camelCase outside, snake_case inside, Go's zero values as defaults."""


class OwnerReference(Object, frozen=True, kw_only=True):
    """The controller or other owner of an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Object, frozen=True, kw_only=True):
    """``metadata`` of any object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    """Empty before defaulting, ``default`` after it."""
    uid: str = ""
    """A static pod without a UID gets a hash (``static_pod.static_uid``)."""
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: list[OwnerReference] = msgspec.field(default_factory=list)
    finalizers: list[str] = msgspec.field(default_factory=list)
    resource_version: str = ""
    generation: Int64 = 0
    self_link: str = ""
    creation_timestamp: str | None = None
    """RFC 3339."""
    deletion_timestamp: str | None = None
    """RFC 3339; set once deletion of the object has begun."""
    deletion_grace_period_seconds: Int64 | None = None
    managed_fields: Opaque = None
