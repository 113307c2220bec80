"""Since when each failed probe is known as such, on the controller's own clock."""


class FailedSince:
    """The moments by the UID of a pod and the name of a probe. The time in an object is that of another clock."""

    def __init__(self) -> None:
        self._since: dict[str, dict[str, int]] = {}

    def note(self, uid: str, failed: list[str], now: int) -> None:
        """These probes of a pod have failed, and no others."""
        before = self._since.get(uid, {})
        self._since[uid] = {name: before.get(name, now) for name in failed}

    def of(self, uid: str, name: str, now: int) -> int:
        """Since when it is known that a probe has failed; ``now`` without an earlier look."""
        return self._since.get(uid, {}).get(name, now)

    def forget(self, uid: str) -> None:
        """No probe of a pod fails any more."""
        self._since.pop(uid, None)

    def clear(self) -> None:
        """Whatever is known became known long ago, so it counts from the next look on."""
        self._since.clear()
