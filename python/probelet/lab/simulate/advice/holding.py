"""Kills that wait: the change of every workload whose containers were killed for nothing."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from probelet.lab.picture.document import VerdictRow
from probelet.lab.simulate.advice.change import Change, joined
from probelet.lab.simulate.advice.ladders import Ladder
from probelet.lab.simulate.manifests import Workload
from probelet.lab.simulate.trouble import Trouble
from probelet.policy.incidents import Output
from probelet.policy.incidents.hold import KINDS
from probelet.spec.annotation.hold_kills import ANNOTATION, hold_choice

WHY: Final = (
    "liveness kills then wait, 5 minutes at most, while an incident is open that a restart does not mend; one restart "
    "is the trial; the price: where a restart would help, containers but the trial's are killed later"
)

HOLD_KILLS: Final = "hold-kills"
"""The id of the change."""


def held_sentence(base: VerdictRow, held: VerdictRow) -> str:
    """Says how waiting would have changed a play, whether it helps or not."""
    return (
        f"Had liveness kills waited for the end of the incident ({ANNOTATION}: shared), {held['requests']['lost']:,} "
        f"requests would be lost, not {base['requests']['lost']:,}, and {held['kills']} containers killed, not "
        f"{base['kills']}."
    )


def of_incidents(
    workloads: Mapping[str, Workload], troubles: Iterable[Trouble], incidents: Iterable[tuple[float, Output]]
) -> list[Ladder]:
    """The change, if an incident of a kind that kills wait for has killed for nothing."""
    kinds = KINDS["shared"]
    if not any(each.incident.kind in kinds and each.incident.killed_for_nothing for _, each in incidents):
        return []
    killed = (each.workload for each in troubles if any(probe == "liveness" for _, probe in each.kills))
    changes = list(_of_workloads(workloads[name] for name in killed))
    return [[joined(HOLD_KILLS, changes, WHY)]] if changes else []


def _of_workloads(workloads: Iterable[Workload]) -> Iterator[Change]:
    for workload in workloads:
        pod = workload.template.pod
        own, _ = hold_choice(pod)
        if own == "shared":
            continue
        path = f"{workload.path.removesuffix('spec')}metadata.annotations"
        value = {**pod.metadata.annotations, ANNOTATION: "shared"}
        yield Change(HOLD_KILLS, workload, f"{path}[{ANNOTATION}]", own or "", "shared", WHY, {path: value})
