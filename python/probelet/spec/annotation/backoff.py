"""The back-off that a pod wants for its containers (ours): ``probelet.dev/backoff: app=1s/30s,worker=30s/10m``.

Each entry is the initial and the longest delay. It applies only if the node sets ``containerBackoffAnnotations``,
and within the node's limits.
"""

from probelet.spec.annotation.entry import container_entries
from probelet.spec.model.pod import Pod
from probelet.spec.text.duration import DurationError, parse_duration
from probelet.spec.text.problem import FieldError

ANNOTATION = "probelet.dev/backoff"

_WANTED = "app=1s/30s,worker=30s/10m"


def chosen_curves(pod: Pod) -> tuple[dict[str, tuple[int, int]], list[FieldError]]:
    """(initial, longest) delay in nanoseconds by container name, and an error for each malformed entry."""
    entries, errors = container_entries(pod, ANNOTATION, _WANTED)
    curves = {}
    for name, text in entries.items():
        try:
            initial, longest = (parse_duration(part.strip()) for part in text.split("/"))
        except (DurationError, ValueError):
            initial, longest = 0, 0
        if 0 < initial <= longest:
            curves[name] = (initial, longest)
        else:
            detail = f"must be two durations above zero, the first not longer, such as {_WANTED}"
            path = f"metadata.annotations[{ANNOTATION}]"
            errors.append(FieldError(path, "Invalid value", f"{name}={text}", detail))
    return curves, errors
