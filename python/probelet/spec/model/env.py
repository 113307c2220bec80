"""The environment variables of a container, and the sources of their values (core/v1, Kubernetes 1.36)."""

from probelet.spec.model.meta import Object, Opaque


class ObjectFieldSelector(Object, frozen=True, kw_only=True):
    """A field of the pod."""

    api_version: str = ""
    """``v1`` after defaulting; no other version has fields to select."""
    field_path: str = ""


class ResourceFieldSelector(Object, frozen=True, kw_only=True):
    """A limit or a request of a container."""

    container_name: str = ""
    """Empty for the container itself."""
    resource: str = ""
    """Such as ``limits.cpu``."""
    divisor: Opaque = None
    """The quantity that counts as one; None is ``1``."""


class KeySelector(Object, frozen=True, kw_only=True):
    """One key of a ConfigMap or a Secret in the pod's namespace."""

    name: str = ""
    key: str = ""
    optional: bool | None = None
    """True: without the object or the key the variable stays unset. Otherwise the container does not start."""


class FileKeySelector(Object, frozen=True, kw_only=True):
    """One variable of a file in a volume."""

    volume_name: str = ""
    path: str = ""
    key: str = ""
    optional: bool | None = None


class EnvVarSource(Object, frozen=True, kw_only=True):
    """Where the value of a variable comes from: exactly one field is set."""

    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: KeySelector | None = None
    secret_key_ref: KeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EnvVar(Object, frozen=True, kw_only=True):
    """One environment variable. Commands of probes expand only literal values."""

    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class EnvSource(Object, frozen=True, kw_only=True):
    """A ConfigMap or a Secret in the pod's namespace."""

    name: str = ""
    optional: bool | None = None
    """True: without the object there are no variables. Otherwise the container does not start."""


class EnvFromSource(Object, frozen=True, kw_only=True):
    """Every key of a ConfigMap or a Secret as a variable: exactly one of the two is set."""

    prefix: str = ""
    """Stands before each key."""
    config_map_ref: EnvSource | None = None
    secret_ref: EnvSource | None = None
