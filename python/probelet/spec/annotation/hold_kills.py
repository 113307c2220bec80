"""Whether the liveness kills of a pod wait while an incident is open that a restart does not mend (ours):
``probelet.dev/hold-kills: shared``.

It takes the place of the node's ``holdKills`` for the pod. A value with a mistake holds nothing.
"""

from typing import Final, Literal, TypeAlias, get_args

from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError

ANNOTATION: Final = "probelet.dev/hold-kills"

HoldChoice: TypeAlias = Literal["off", "prober", "shared"]
"""``prober``: while the prober itself is late. ``shared``: also while something is at fault that several workloads
share."""

CHOICES: Final[tuple[HoldChoice, ...]] = get_args(HoldChoice)


def hold_choice(pod: Pod) -> tuple[HoldChoice | None, list[FieldError]]:
    """The pod's own choice, None if it leaves that to the node, and an error for a value that is none."""
    text = pod.metadata.annotations.get(ANNOTATION)
    if text is None:
        return None, []
    for choice in CHOICES:
        if text == choice:
            return choice, []
    detail = f"supported values: {', '.join(CHOICES)}"
    return "off", [FieldError(f"metadata.annotations[{ANNOTATION}]", "Unsupported value", text, detail)]
