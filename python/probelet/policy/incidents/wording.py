"""The evidence for an incident as one sentence of bounded length."""

from collections.abc import Sequence
from typing import Final

from probelet.base import words
from probelet.policy.incidents.explain import Explanation
from probelet.policy.incidents.known import Known, Pod
from probelet.policy.incidents.open import NAMES_MAX, main_workloads

NAME_MAX: Final = 120
"""The characters of a name that a sentence keeps; Kubernetes allows 253, an annotation more."""


def evidence(found: Explanation, known: Known) -> str:
    """Why these pods are one incident."""
    failing = f"{_of(len(found.pods), found.of + _more(found))} {{what}} fail ({_short(found.cause)})"
    workloads = main_workloads(found.pods)
    rest = f"; {_of(found.others_bad, found.others)} others do" if found.others else ""
    name = _short(found.thing[1]) if found.thing is not None else ""
    match found.kind, found.thing[0] if found.thing is not None else "":
        case "prober", _:
            late = f"{known.late_share(found.thing[1]):.0%}" if found.thing is not None else "most"
            text = failing.format(what=f"pods on {name}") + f" while its prober is late in {late} of its attempts"
        case "node", _:
            text = failing.format(what=f"pods on {name}") + f", of {words.count(len(workloads), 'workload')}{rest}"
        case "workload", "rollout":
            text = failing.format(what=f"pods of the latest version of {name}") + _version(name, known) + rest
        case "workload", _:
            text = failing.format(what=f"pods of {name}") + _common_target(found.pods) + rest
        case "shared", "":
            text = failing.format(what="pods") + f" of {_listed(workloads)}, at the same time{rest}"
        case _, sort:
            what = f"pods that ask {name}" if sort == "target" else f"pods with the {sort} {name}"
            also = f" ({words.count(found.also, 'workload')} among them that names no target)" if found.also else ""
            text = failing.format(what=what) + f", of {_listed(workloads)}{also}{rest}"
    return text


def alone(pod: Pod, known: Known, others_bad: int) -> str:
    """The evidence that a container fails for itself; ``others_bad`` is how many other pods of its workload fail."""
    bad = pod.bad_probes()
    probes = sorted({probe.subject.probe_type for probe in bad})
    what = "it ended by itself"
    if bad:
        what = f"its {' and '.join(probes)} probe{'s' if len(probes) > 1 else ''} failed ({_short(bad[0].cause)})"
    elif pod.kills:
        what = "a probe had it killed"
    others = known.workloads[pod.workload].pods - 1
    if not others:
        return f"{what}; it is in the only pod of {_short(pod.workload)}"
    return f"{what}; {_of(others_bad, others)} other pods of {_short(pod.workload)} fail"


def _listed(names: Sequence[str]) -> str:
    """Names, at most ``NAMES_MAX`` of them: ``a, b and 3 more``."""
    return words.listed([_short(name) for name in names], NAMES_MAX)


def _more(found: Explanation) -> int:
    """Pods that are not known to have the thing."""
    return max(0, len(found.pods) - found.of)


def _version(name: str, known: Known) -> str:
    facts = known.workloads.get(name)
    return f" (image {_short(facts.image)})" if facts is not None and facts.image else ""


def _common_target(pods: list[Pod]) -> str:
    asked = [{target for probe in pod.bad_probes() for target in probe.subject.targets} for pod in pods]
    common = sorted(set.intersection(*asked)) if asked else []
    return f", which ask {_listed(common)}" if common else ""


def _of(count: int, whole: int) -> str:
    return f"{count:,} of {whole:,}"


def _short(name: str) -> str:
    return name if len(name) <= NAME_MAX else f"{name[:NAME_MAX]}..."
