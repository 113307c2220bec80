"""A cluster's user sees the same of a pod whose probes probelet took over, but for the rows of the table in
docs/cluster/agent.md."""

import shutil
import sys
from statistics import median

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.fifteen.facts.endpoints import out_after
from tests.cluster.fifteen.judge import COLUMNS, findings
from tests.cluster.fifteen.play import Play, play
from tests.cluster.fifteen.pods import DEPLOYMENT, PODS
from tests.cluster.namespace import Namespace
from tests.cluster.record.seen import ClusterSide
from tests.kubelet.beside.__main__ import recurring
from tests.kubelet.beside.verdict.finding import NODE_ITSELF, Finding
from tests.kubelet.beside.verdict.report import rows, table
from tests.support.paths import BUILD

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

OUT = BUILD / "cluster"
"""The notes of every round, and the table."""
ROUNDS = 3
"""A difference without a row counts if it comes every time; chance alone makes some."""


@pytest.mark.usefixtures("probelet")
def test_every_difference_from_the_kubelets_own_probes_is_listed(cluster: Cluster) -> None:
    found: list[Finding] = []
    names = [*PODS, DEPLOYMENT]
    for number in range(1, ROUNDS + 1):
        again = played(cluster, number, names)
        found = again if number == 1 else recurring(found, again)
        names = sorted({one.pod for one in found if not one.listed} - {NODE_ITSELF})
        if not names:
            break
    text = [*latencies(cluster), "", *table([*PODS, DEPLOYMENT], found, COLUMNS), "", *rows(found)]
    (OUT / "fifteen-pods.txt").write_text("\n".join(text) + "\n")
    sys.stdout.write("\n".join(text) + "\n")
    assert [one for one in found if not one.listed] == [], "\n".join(text)


def latencies(cluster: Cluster) -> list[str]:
    """How soon a failed answer takes the endpoint away, on each side of the first round."""
    lines = []
    for name in ("native", "taken"):
        seconds = out_after(ClusterSide(cluster.folder / "fifteen-1" / name))
        numbers = f"median {median(seconds):.3f} s, longest {seconds[-1]:.3f} s, of {len(seconds)}"
        lines.append(f"from a failed answer to the endpoint's absence: {name}: {numbers}")
    return lines


def played(cluster: Cluster, number: int, names: list[str]) -> list[Finding]:
    """One round in two namespaces of its own."""
    folder = cluster.folder / f"fifteen-{number}"
    sides = {name: Namespace(cluster, f"fifteen-{name}-{number}") for name in ("native", "taken")}
    plays = [Play(one, folder / name, names, taken=name == "taken") for name, one in sides.items()]
    play(plays, names, sides["native"])
    for one in sides.values():
        one.delete()
    for one in sides.values():
        # The ends of thirty pods would make the kubelet late for another round.
        one.until_empty()
    kept = OUT / folder.name
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept)
    return findings(ClusterSide(folder / "native"), ClusterSide(folder / "taken"), names)
