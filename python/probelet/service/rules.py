"""The part of the node's configuration that applies to pods that callers hand over."""

from collections.abc import Mapping
from typing import Final

import msgspec

from probelet._rust import EventRecord
from probelet.base.exposition.wording import EventWording, counted
from probelet.spec.annotation.probe_options import fold_options
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe_options import OptionDefaults
from probelet.spec.rules.disabled import drop_disabled_fields
from probelet.spec.rules.host_rule import denied_hosts
from probelet.spec.text.problem import FieldError


class Rules(msgspec.Struct, frozen=True):
    """Every option that decides about a pod or an event of a caller, so that ``serve`` and ``run --serve`` apply the
    same ones. ``gates`` is None if every field of a pod counts."""

    deny_hosts: bool = False
    event_wording: EventWording = "kubelet"
    gates: Mapping[str, bool] | None = None
    probe_options: OptionDefaults | None = None

    def apply(self, pod: Pod) -> Pod:
        """The pod without the fields whose gate is off."""
        return pod if self.gates is None else drop_disabled_fields(pod, None, self.gates)

    def opted(self, pod: Pod) -> tuple[Pod, list[FieldError]]:
        """The pod with the options of its probes, and the mistakes in its annotation: a pod with any has only
        the node's own options."""
        return fold_options(pod, self.probe_options)

    def mistakes(self, pod: Pod) -> list[FieldError]:
        """The mistakes that the configuration makes of a pod's fields."""
        return denied_hosts(pod) if self.deny_hosts else []

    def message(self, event: EventRecord) -> str:
        """The text of an event."""
        return (counted(event) if self.event_wording == "counted" else "") or event.message


KUBELETS: Final = Rules()
"""The kubelet's own: every pod and field counts."""
