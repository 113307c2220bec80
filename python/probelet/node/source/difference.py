"""The changes between two sets of pods. A source always gives the whole set: SET is its only operation."""

from collections.abc import Iterable, Mapping

import msgspec

from probelet.spec.read.load import Manifest


class Difference(msgspec.Struct, frozen=True):
    """The changes of a SET.

    A pod of another name under an old UID is in ``removed`` and in ``added``: it ends, and another pod begins.
    """

    removed: tuple[str, ...]
    changed: tuple[Manifest, ...]
    """New manifests of pods that go on (kubelet config/config.go:checkAndUpdatePod, 1.36)."""
    added: tuple[Manifest, ...]


def difference(running: Mapping[str, Manifest], wanted: Iterable[Manifest]) -> Difference:
    """The difference from the manifests that run, by UID, to the manifests that are wanted."""
    by_uid = {manifest.pod.metadata.uid: manifest for manifest in wanted}
    removed = tuple(uid for uid, was in running.items() if uid not in by_uid or not _same_name(by_uid[uid], was))
    kept = {uid: m for uid, m in by_uid.items() if uid in running and uid not in removed}
    changed = tuple(m for uid, m in kept.items() if m.digest != running[uid].digest)
    added = tuple(m for uid, m in by_uid.items() if uid not in kept)
    return Difference(removed, changed, added)


def _same_name(one: Manifest, other: Manifest) -> bool:
    return one.pod.full_name == other.pod.full_name
