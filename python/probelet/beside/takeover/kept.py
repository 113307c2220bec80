"""The probes that stay with the kubelet because their pod says so, while its other ones are taken over.

A kubelet writes Ready at each result of its own readiness probes, also while it ends the pod, and looks at gates only
when a sync begins. So a pod whose drain needs Ready to follow the probe keeps that probe (docs/cluster/readiness.md).
Only readiness may be kept: a liveness probe that stays alone would leave its container without a startup probe, and so
ready before its server listens whenever it starts again without an agent.
"""

from collections.abc import Mapping
from typing import Final

from probelet.beside.takeover.names import KEEP_NATIVE_ANNOTATION
from probelet.spec.model.probe import ProbeType
from probelet.spec.text.golang import go_quote

READINESS: Final[ProbeType] = "readiness"


def keeps(annotations: Mapping[str, str], kind: ProbeType) -> bool:
    """True if a pod with these annotations keeps its probes of this type native."""
    return kind == READINESS and annotations.get(KEEP_NATIVE_ANNOTATION) == READINESS


def mistake(annotations: Mapping[str, str]) -> str | None:
    """The mistake in the annotation, with its place and what is allowed; None for nothing."""
    text = annotations.get(KEEP_NATIVE_ANNOTATION)
    if text is None or text == READINESS:
        return None
    place = f"metadata.annotations[{KEEP_NATIVE_ANNOTATION}]"
    return f"{place}: Unsupported value: {go_quote(text)}: supported values: {go_quote(READINESS)}"
