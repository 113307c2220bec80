"""The table, and a row for each difference."""

import json
from collections.abc import Sequence
from typing import Any

from tests.kubelet.beside.facts import SECTIONS
from tests.kubelet.beside.verdict.finding import NODE_ITSELF, Finding

PODS_SHOWN = 3
VALUE_MAX = 400


def table(pods: Sequence[str], found: Sequence[Finding], sections: Sequence[str] = (*SECTIONS, "node")) -> list[str]:
    """A row for each pod, a cell for each section: same, listed, or how many facts differ unexplained."""
    lines = [f"{'pod':24s}" + "".join(f"{section:>11s}" for section in sections)]
    for pod in [*pods, NODE_ITSELF]:
        cells = [_cell([one for one in found if one.pod == pod and one.section == section]) for section in sections]
        lines.append(f"{pod:24s}" + "".join(f"{cell:>11s}" for cell in cells))
    return lines


def _cell(found: list[Finding]) -> str:
    unlisted = sum(not one.listed for one in found)
    return f"{unlisted} differ" if unlisted else "listed" if found else "same"


def rows(found: Sequence[Finding]) -> list[str]:
    """One row for each difference, with the pods that have it: first the differences without a line of the page."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for one in found:
        kubelet, probelet = _only(one.kubelet, one.probelet), _only(one.probelet, one.kubelet)
        row = (one.listed, one.section, one.name, kubelet.replace(one.pod, "POD"), probelet.replace(one.pod, "POD"))
        alike.setdefault(row, []).append(one.pod)
    lines = []
    for (listed, section, name, kubelet, probelet), pods in sorted(alike.items(), key=lambda row: bool(row[0][0])):
        shown = ", ".join(pods[:PODS_SHOWN]) + (f" and {len(pods) - PODS_SHOWN} more" if len(pods) > PODS_SHOWN else "")
        lines += [f"{', '.join(listed) or 'NOT LISTED'}: {section}: {name} ({shown})"]
        lines += [f"    kubelet:  {kubelet}", f"    probelet: {probelet}"]
    return lines


def _only(mine: Any, theirs: Any) -> str:
    """A value; of a list, the items that the other side does not have, unless only the order differs."""
    if isinstance(mine, list) and isinstance(theirs, list) and not all(isinstance(item, float) for item in mine):
        mine = [item for item in mine if item not in theirs] or (mine if len(mine) == len(theirs) else [])
    if isinstance(mine, float):
        return f"{mine:.2f}"
    if isinstance(mine, list):
        return _cut("; ".join(f"{item:.2f}" if isinstance(item, float) else str(item) for item in mine) or "none")
    return _cut(mine if isinstance(mine, str) else json.dumps(mine, sort_keys=True))


def _cut(text: str) -> str:
    text = text.replace("\n", "\\n")
    return text if len(text) <= VALUE_MAX else f"{text[:VALUE_MAX]} ..."
