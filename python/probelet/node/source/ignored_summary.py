"""One line for all that is ignored in the manifests: at the start, and for pods of which it changes."""

from collections.abc import Sequence

from probelet.spec.fields.ignored import Ignored, summary
from probelet.spec.fields.support import RuntimeKind
from probelet.spec.read.load import Manifest


class IgnoredSummary:
    """Remembers which fields of each pod the last lines named."""

    def __init__(self, runtime: RuntimeKind) -> None:
        self._runtime: RuntimeKind = runtime
        # By namespace/name.
        self._named: dict[str, tuple[Ignored, ...]] = {}

    def of(self, pods: Sequence[Manifest]) -> str | None:
        """The line about the pods of this whole set that ignore other fields than before; None if there are none."""
        now = {manifest.pod.full_name: manifest.ignored for manifest in pods}
        news = [ignored for name, ignored in now.items() if self._named.get(name, ()) != ignored]
        self._named = now
        return summary(news, self._runtime)
