"""A verdict about a field on one kind of runtime."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from probelet.spec.rules.runtime_kind import RuntimeKind

Kind: TypeAlias = Literal["works", "ignored", "refused", "nothing"]
"""``works``: as on a kubelet. ``ignored``: no effect, which the summary at a start names. ``refused``: the pod does not
run. ``nothing``: there is nothing to honour, because only an API server, a scheduler or a controller reads the field,
or because the field is about images and there are none."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a field."""

    kind: Kind
    why: str = ""
    """The reason, or the part that differs."""
    same_as_absent: tuple[Any, ...] = ()
    """Values that only spell out what happens without the field: those of an ignored field are not named."""


class Row(NamedTuple):
    """One field and its verdicts. ``path`` begins with ``metadata``, ``spec``, ``container``, ``probe`` or ``hook``;
    ``[*]`` is any entry of a map, ``[hugepages-*]`` any whose key begins so."""

    path: str
    process: Verdict
    cri: Verdict

    def on(self, runtime: RuntimeKind) -> Verdict:
        """The verdict on this kind of runtime."""
        return self.process if runtime == "process" else self.cri


WORKS = Verdict("works")
NOTHING = Verdict("nothing")


def works(why: str) -> Verdict:
    """It works, with something to know."""
    return Verdict("works", why)


def ignored(why: str, *same_as_absent: Any) -> Verdict:
    """It has no effect."""
    return Verdict("ignored", why, same_as_absent)


def refused(why: str) -> Verdict:
    """The pod does not run."""
    return Verdict("refused", why)


def nothing(why: str) -> Verdict:
    """There is nothing to honour."""
    return Verdict("nothing", why)


def both(path: str, verdict: Verdict = WORKS) -> Row:
    """A row with one verdict for both kinds of runtime."""
    return Row(path, verdict, verdict)
