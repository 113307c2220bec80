"""How long the start of a container takes at most (ours): ``probelet.dev/startup-seconds: "45"``, or with several
containers ``app=45,proxy=2.5``. Nothing waits for it: the linter and the simulator compare probes with it.
"""

from typing import Final

from probelet.spec.annotation.entry import container_entries
from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/startup-seconds"
PATH: Final = f"metadata.annotations[{ANNOTATION}]"
SECONDS_MAX: Final = 7 * 24 * 3600
"""A week; a longer start is a slip of the pen."""

_WANTED: Final = "45 or app=45,proxy=2.5"
_DETAIL: Final = f"must be seconds above 0 and at most {SECONDS_MAX}, such as {_WANTED}"


def startup_seconds(pod: Pod) -> tuple[dict[str, float], list[FieldError]]:
    """Seconds by container name, and an error for each malformed entry. A number alone counts for every regular
    container."""
    text = pod.metadata.annotations.get(ANNOTATION)
    if text is None:
        return {}, []
    if "=" not in text:
        seconds = _seconds(text)
        if seconds is None:
            return {}, [FieldError(PATH, "Invalid value", text, _DETAIL)]
        return {container.name: seconds for container in pod.spec.containers}, []
    entries, errors = container_entries(pod, ANNOTATION, _WANTED)
    found = {}
    for name, entry in entries.items():
        seconds = _seconds(entry)
        if seconds is None:
            errors.append(FieldError(PATH, "Invalid value", f"{name}={entry}", _DETAIL))
        else:
            found[name] = seconds
    return found, errors


def _seconds(text: str) -> float | None:
    """A decimal number in range. Exponents, infinities and underscores are refused: nobody writes them."""
    whole, dot, fraction = text.strip().partition(".")
    digits = whole + fraction
    if not (whole and digits.isascii() and digits.isdigit() and len(digits) <= 12) or (dot and not fraction):
        return None
    seconds = float(text)
    return seconds if 0 < seconds <= SECONDS_MAX else None
