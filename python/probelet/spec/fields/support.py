"""How far a kind of runtime supports a field."""

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

RuntimeKind: TypeAlias = Literal["cri", "process"]
"""The kind of runtime that will run a manifest's containers. ``process``: a container is a process of this machine.
``cri``: a runtime such as containerd runs its image."""

Kind: TypeAlias = Literal["works", "ignored", "refused", "nothing"]
"""``works``: as on a kubelet. ``ignored``: no effect, which the summary at a start names. ``refused``: the pod does not
run. ``nothing``: there is nothing to honour, because only an API server, a scheduler or a controller reads the field,
or because the field is about images and there are none."""


class Support(msgspec.Struct, frozen=True):
    """The support of one field."""

    kind: Kind
    why: str = ""
    """The reason, or the part that differs."""
    same_as_absent: tuple[Any, ...] = ()
    """Values that only spell out what happens without the field: those of an ignored field are not named."""


class Row(NamedTuple):
    """One field and its support. ``path`` begins with ``metadata``, ``spec``, ``container``, ``probe`` or ``hook``;
    ``[*]`` is any entry of a map, ``[hugepages-*]`` any whose key begins so."""

    path: str
    process: Support
    cri: Support

    def on(self, runtime: RuntimeKind) -> Support:
        """The support on this kind of runtime."""
        return self.process if runtime == "process" else self.cri


WORKS = Support("works")
NOTHING = Support("nothing")


def works(why: str) -> Support:
    """It works, with something to know."""
    return Support("works", why)


def ignored(why: str, *same_as_absent: Any) -> Support:
    """It has no effect."""
    return Support("ignored", why, same_as_absent)


def refused(why: str) -> Support:
    """The pod does not run."""
    return Support("refused", why)


def nothing(why: str) -> Support:
    """There is nothing to honour."""
    return Support("nothing", why)


def both(path: str, support: Support = WORKS) -> Row:
    """A row with the same support on both kinds of runtime."""
    return Row(path, support, support)
