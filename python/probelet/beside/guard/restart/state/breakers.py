"""How many of a workload's pods fail at once. That many at once is no fault of the pods (F-10)."""

from collections import defaultdict
from collections.abc import Hashable


class Share:
    """The probed pods of each group, and how many of them fail."""

    def __init__(self) -> None:
        self._probed: defaultdict[Hashable, set[str]] = defaultdict(set)
        self._failed: defaultdict[Hashable, set[str]] = defaultdict(set)
        self._group: dict[str, Hashable] = {}

    def put(self, uid: str, group: Hashable, *, is_failed: bool) -> None:
        """Note the state of a probed pod."""
        if self._group.get(uid, group) != group:
            self.drop(uid)
        self._group[uid] = group
        self._probed[group].add(uid)
        if is_failed:
            self._failed[group].add(uid)
        else:
            self._failed[group].discard(uid)

    def drop(self, uid: str) -> None:
        """A pod is not probed any more."""
        group = self._group.pop(uid, None)
        if group is None:
            return
        for sets in (self._probed, self._failed):
            sets[group].discard(uid)
            if not sets[group]:
                del sets[group]

    def probed(self, group: Hashable) -> int:
        """How many pods of a group are probed."""
        return len(self._probed.get(group, ()))

    def failed(self, group: Hashable) -> int:
        """How many pods of a group fail."""
        return len(self._failed.get(group, ()))

    def is_above(self, group: Hashable, ratio: float, least: int) -> bool:
        """Whether at least ``ratio`` of a group with at least ``least`` probed pods fails."""
        probed = self.probed(group)
        return probed >= least and self.failed(group) >= ratio * probed
