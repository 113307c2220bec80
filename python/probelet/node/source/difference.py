"""What changes between two sets of pods. A source always gives the whole set: SET is its only operation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from probelet.spec.read.load import Manifest


@dataclass(frozen=True, slots=True)
class Difference:
    """The changes of a SET. A pod whose manifest changed is in both lists: it ends, and another pod begins."""

    removed: tuple[str, ...]
    added: tuple[Manifest, ...]


def difference(running: Mapping[str, Manifest], wanted: Iterable[Manifest]) -> Difference:
    """The difference from the manifests that run, by UID, to the manifests that are wanted."""
    by_uid = {manifest.pod.metadata.uid: manifest for manifest in wanted}
    removed = tuple(uid for uid, was in running.items() if uid not in by_uid or by_uid[uid].digest != was.digest)
    added = tuple(m for uid, m in by_uid.items() if uid not in running or uid in removed)
    return Difference(removed, added)
