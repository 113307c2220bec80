"""The kind of runtime that will run a manifest's containers."""

from typing import Literal, TypeAlias

RuntimeKind: TypeAlias = Literal["cri", "process"]
"""``process``: a container is a process of this machine. ``cri``: a runtime such as containerd runs its image."""
