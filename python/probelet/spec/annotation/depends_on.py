"""The names that a pod's probes ask beyond their own containers (ours): ``probelet.dev/depends-on: db:5432,cache``.

A name is a host name or an address, with or without a port. Incidents name what several workloads share by it; nothing
else reads it.
"""

import re
from typing import Final

from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/depends-on"

NAMES_MAX: Final = 16
"""Names of one pod. A probe that asks more says nothing about any of them."""

_NAME = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)(?::[0-9]{1,5})?")


def depends_on(pod: Pod) -> tuple[tuple[str, ...], list[FieldError]]:
    """The names of a pod, each once, and an error for each entry that is none."""
    text = pod.metadata.annotations.get(ANNOTATION)
    return ((), []) if text is None else names_in(text)


def names_in(text: str) -> tuple[tuple[str, ...], list[FieldError]]:
    """The names in the annotation's text, and the errors."""
    path = f"metadata.annotations[{ANNOTATION}]"
    names, errors = dict[str, None](), []
    for entry in map(str.strip, text.split(",")):
        if _NAME.fullmatch(entry) is None:
            detail = "must be a list of host names or addresses, each with or without a port, such as db:5432,cache"
            errors.append(FieldError(path, "Invalid value", entry, detail))
        elif len(names) < NAMES_MAX:
            names[entry] = None
        elif entry not in names:
            errors.append(FieldError(path, "Too many", entry, f"must have at most {NAMES_MAX} names"))
    return tuple(names), errors
