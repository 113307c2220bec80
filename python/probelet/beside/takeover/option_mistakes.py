"""The mistakes in a new pod's options of probes and of its kills, for the person who creates it.

The agent ignores such an annotation and says so in an event; a warning comes while somebody looks at the screen.
"""

from typing import Any

import msgspec

from probelet.beside.takeover.names import PROBES_ANNOTATION
from probelet.spec.annotation.hold_kills import ANNOTATION as HOLD_KILLS
from probelet.spec.annotation.hold_kills import hold_choice
from probelet.spec.annotation.probe_changes import ANNOTATION as PROBE_CHANGES
from probelet.spec.annotation.probe_changes import wrong_changes
from probelet.spec.annotation.probe_options import ANNOTATION, fold_options
from probelet.spec.read.json import SpecError, decode_pod
from probelet.spec.rules.defaults import set_defaults


def option_mistakes(pod: Any) -> list[str]:
    """One line for each mistake in the annotation of a pod, as plain JSON data, whose probes have not moved yet. A pod
    that cannot be read has none: the API server says what is wrong with it."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    if not annotations.keys() & {ANNOTATION, HOLD_KILLS, PROBE_CHANGES} or PROBES_ANNOTATION in annotations:
        return []
    try:
        decoded = decode_pod(msgspec.json.encode(pod))
    except (SpecError, msgspec.MsgspecError):
        return []
    _, mistakes = fold_options(set_defaults(decoded))
    mistakes += wrong_changes(decoded) + hold_choice(decoded)[1]
    return [str(mistake.shortened()) for mistake in mistakes]
