"""Times of Kubernetes objects as nanoseconds since the Unix epoch."""

from probelet.base.exposition.timestamp import rfc3339, unix_ms
from probelet.spec.text.duration import MILLISECOND


def nanoseconds(text: str | None) -> int | None:
    """The moment of an RFC 3339 text; None without one, and for a text that is no time."""
    if not text:
        return None
    try:
        return unix_ms(text) * MILLISECOND
    except ValueError:
        return None


def text(moment_ns: int) -> str:
    """An RFC 3339 text in whole seconds, as ``metav1.Time`` writes it."""
    return rfc3339(moment_ns // MILLISECOND // 1_000 * 1_000).replace(".000Z", "Z")
