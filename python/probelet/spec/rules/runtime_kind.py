"""What kind of runtime the containers of a manifest are for."""

from typing import Literal, TypeAlias

RuntimeKind: TypeAlias = Literal["cri", "process"]
"""``process``: containers are processes of this machine; ``cri``: a runtime like containerd makes them from images."""
