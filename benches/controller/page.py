"""Renders docs/cluster/scale.md from the kept results. Every figure on the page is measured or calculated here."""

from pathlib import Path
from string import Template
from typing import Any, Final

from probelet.beside.guard.objects.node_probes import FAILED_BEAT_NS
from probelet.beside.probes.publishing import BEAT_NS
from probelet.kube.lease.heartbeat import RENEW_NS
from probelet.spec.text.duration import SECOND

from tests.support.paths import ROOT

RESULTS: Final = ROOT / "benches" / "results" / "controller.json"
PAGE: Final = ROOT / "docs" / "cluster" / "scale.md"
TEMPLATE: Final = Path(__file__).parent / "scale.md"

NODES: Final = 5_000
ENTRIES: Final = 110
"""The cluster that the page calculates."""
HEARTBEAT_SECONDS: Final = BEAT_NS // SECOND
FAILED_HEARTBEAT_SECONDS: Final = FAILED_BEAT_NS // SECOND
"""How often an agent publishes a status in which nothing changes, and one in which something fails."""
GOAL_MB: Final = 20
"""Megabytes a minute that healthy operation may write into etcd."""
COMPACTION_SECONDS: Final = 300
"""How long kube-apiserver lets revisions stay (``--etcd-compaction-interval``)."""
WRITES_OF_A_POD: Final = 2
"""Writes of a NodePodProbe for a pod that comes (its entry, its first result), and for one that goes."""
LEASE_SECONDS: Final = RENEW_NS // SECOND
"""How often an agent renews its Lease."""
DELETED_PODS_A_SECOND: Final = 20
"""Pods of a busy cluster that come or go in a second; each changes about six times on its way."""
CHANGES_OF_A_POD: Final = 6


def render(found: dict[str, Any]) -> str:
    """The page for these results."""
    cluster, decision, machine = found["cluster"], found["decision"], found["machine"]
    published, rss = cluster["published"], cluster["rss_mib"]
    nodes, pods = cluster["nodes"], cluster["pods"]
    node_kib = (rss["with_nodes"] - rss["empty"]) * 1024 / nodes
    pod_kib = decision["rss_mib"] * 1024 / decision["pods"]
    mirror_kib = max(0.0, (rss["with_pods"] - rss["with_nodes"]) * 1024 / pods)
    all_pods = NODES * ENTRIES
    quiet, failing = NODES / HEARTBEAT_SECONDS, NODES / FAILED_HEARTBEAT_SECONDS
    size = published["object_bytes"]
    # The entries that were measured are read and left alone; those of own pods also reach the decision.
    share = round(1000 / decision["statuses_a_second"], 2)
    cost = round(published["cpu_ms_a_status"] + share, 2)
    values: dict[str, Any] = {
        "cpu": machine["cpu"],
        "cores": machine["cores"],
        "commit": machine["commit"],
        "python": machine["python"],
        "load": found["load_average"],
        "nodes": f"{nodes:,}",
        "pods": f"{pods:,}",
        "entries": cluster["entries"],
        "size_kib": f"{size / 1024:.1f}",
        "rss_empty": rss["empty"],
        "rss_nodes": rss["with_nodes"],
        "rss_pods": rss["with_pods"],
        "rss_published": published["rss_mib"],
        "statuses": f"{published['statuses']:,}",
        "rate": published["statuses_a_second"],
        "received": f"{published['statuses_a_second'] * size / 2**20:.1f}",
        "measured_cost": f"{published['cpu_ms_a_status']:.2f}",
        "share": share,
        "cost": cost,
        "idle": cluster["idle_cpu_percent"],
        "mapped": cluster["mapping_ends_seconds_after_the_last_pod"],
        "decision_pods": f"{decision['pods']:,}",
        "decision_rss": decision["rss_mib"],
        "decisions": f"{decision['decisions']:,}",
        "decisions_a_second": f"{decision['decisions_a_second']:,}",
        "statuses_in_decision": f"{decision['statuses_a_second']:,}",
        "node_kib": f"{node_kib:.1f}",
        "pod_kib": f"{pod_kib:.2f}",
        "mirror_kib": f"{mirror_kib:.1f}",
        "big_nodes": f"{NODES:,}",
        "big_pods": f"{all_pods:,}",
        "big_nodes_mib": f"{node_kib * NODES / 1024:,.0f}",
        "big_pods_mib": f"{mirror_kib * all_pods / 1024:,.0f}",
        "big_total_mib": f"{rss['empty'] + (node_kib * NODES + mirror_kib * all_pods) / 1024:,.0f}",
        "leader_seconds": cluster["leader_change_seconds"],
        "second_seconds": cluster["second_controller_ready_seconds"],
        "quiet": f"{quiet:.1f}",
        "quiet_cpu": f"{quiet * cost / 10:.1f}",
        "failing": f"{failing:.0f}",
        "failing_cpu": f"{failing * cost / 10:.0f}",
        "etcd_mib": f"{NODES * size / 2**20:,.0f}",
        "pod_changes": DELETED_PODS_A_SECOND * CHANGES_OF_A_POD,
        "leases": f"{NODES / LEASE_SECONDS:.0f}",
        "one_mib_entries": f"{2**20 / (size / cluster['entries']):,.0f}",
    }
    return Template(TEMPLATE.read_text()).substitute(values, **written(cluster))


def written(cluster: dict[str, Any]) -> dict[str, Any]:
    """The values about what nodes write into etcd."""
    revision, lease = cluster["published"]["revision_bytes"], cluster["lease"]["bytes"]
    quiet_mb = NODES / HEARTBEAT_SECONDS * revision * 60 / 1e6
    lease_mb = NODES / LEASE_SECONDS * lease * 60 / 1e6
    failing, churn = NODES / FAILED_HEARTBEAT_SECONDS, DELETED_PODS_A_SECOND * WRITES_OF_A_POD
    return {
        "beat": f"{HEARTBEAT_SECONDS:,}",
        "failed_beat": FAILED_HEARTBEAT_SECONDS,
        "lease_beat": LEASE_SECONDS,
        "revision_kb": f"{revision / 1e3:.1f}",
        "lease_bytes": lease,
        "quiet_mb": f"{quiet_mb:.1f}",
        "lease_mb": f"{lease_mb:.1f}",
        "healthy_mb": f"{quiet_mb + lease_mb:.1f}",
        "verdict": "within" if quiet_mb + lease_mb <= GOAL_MB else "above",
        "goal_mb": GOAL_MB,
        "churn": churn,
        "churn_mb": f"{churn * revision * 60 / 1e6:,.0f}",
        "churn_gib": f"{churn * revision * COMPACTION_SECONDS / 2**30:.1f}",
        "failing_gib": f"{failing * revision * COMPACTION_SECONDS / 2**30:.2f}",
        "failing_mb": f"{failing * revision * 60 / 1e6:,.0f}",
    }
