"""The page of the probes: the series of a pod, and how often its probes ran; the page itself."""

import re

from tests.kubelet.beside.facts.events import CHANCE
from tests.kubelet.beside.facts.fact import Fact
from tests.kubelet.beside.seen.side import Side
from tests.kubelet.beside.sides.agent import SUFFIX

COUNT_SLACK = 3.0
SERIES = re.compile(r"(?P<name>prober_probe_\w+)\{(?P<labels>.*)\} (?P<value>\S+)")
PAGES = ("probes.txt", "probes-after-restart.txt")


def facts(side: Side, other: Side, pod: str) -> list[Fact]:
    found = []
    events = [event for both in (side, other) for event in both.events if event["pod"] == pod]
    chance = any(CHANCE.search(event["message"]) for event in events)
    loops = any(len(rows) > 2 for both in (side, other) for rows in both.of(pod).values())
    for page in PAGES[:1] if loops else PAGES:
        series = _series(side, page, pod)
        if chance:
            series = {name: value for name, value in series.items() if '"failed"' not in name}
        failed = {name: value for name, value in series.items() if '"successful"' not in name and "_sum" not in name}
        totals = [value for name, value in sorted(failed.items()) if name.startswith("prober_probe_total")]
        found.append(Fact(f"{page}: series", sorted(series)))
        if not loops:
            found.append(Fact(f"{page}: probes that did not succeed", totals, COUNT_SLACK))
    return found


def of_page(side: Side) -> list[Fact]:
    """What the page says besides values."""
    page = _page(side, PAGES[0])
    rows = sorted(row for row in page.splitlines() if row.startswith(("# HELP prober_", "# TYPE prober_")))
    buckets = set(re.findall(r'prober_probe_duration_seconds_bucket\{.*le="([^"]*)"', page))
    return [Fact("metrics: HELP and TYPE", rows), Fact("metrics: buckets", sorted(buckets, key=float))]


def _page(side: Side, page: str) -> str:
    return (side.folder / page).read_text().replace(SUFFIX, "")


def _series(side: Side, page: str, pod: str) -> dict[str, float]:
    found = {}
    for row in _page(side, page).splitlines():
        match = SERIES.fullmatch(row)
        if match and f'pod="{pod}"' in match["labels"] and "_bucket" not in match["name"]:
            labels = re.sub(r'pod_uid="[^"]*"', 'pod_uid="UID"', match["labels"])
            found[f"{match['name']}{{{labels}}}"] = float(match["value"])
    return found
