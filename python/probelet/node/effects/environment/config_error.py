"""The error of a container whose configuration cannot be made."""

from probelet.errors import ProbeletError


class ContainerConfigError(ProbeletError):
    """A container's configuration cannot be made, so the runtime is not called; the text is the kubelet's."""
