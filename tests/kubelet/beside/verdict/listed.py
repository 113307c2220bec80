"""The lines of docs/kubelet-parity.md that the comparison meets, by their anchors, and what exactly each explains."""

import re
from dataclasses import dataclass

from tests.kubelet.beside.pods.changes import REMOVED_WHILE_DOWN
from tests.kubelet.beside.verdict.forget import (
    Forget,
    alike_without,
    anything,
    if_true,
    later,
    later_wakes,
    only_kubelet,
    only_probelet,
    replaced,
    same_end,
    without,
)


@dataclass(frozen=True)
class Listed:
    """A line of the page. ``section``, ``name`` and ``pods`` are patterns for whole texts."""

    anchor: str
    section: str
    name: str
    forget: Forget = anything
    pods: str = ".*"

    def covers(self, section: str, name: str, pod: str) -> bool:
        patterns = ((self.section, section), (self.name, name), (self.pods, pod))
        return all(re.fullmatch(pattern, text) for pattern, text in patterns)


TIMED_OUT = "Readiness probe failed: .*deadline exceeded"
HOOK_HEADERS = r'"(Accept-Encoding: gzip|Connection: close)", |"close": \w+, '
ENDS = "(crash|success|failure|restart-rules|poststart-fails|init-fails|one-of-two).*"
"""Pods whose containers end by themselves, or because their hook fails: no probe kills them."""

LISTED = (
    # Names and what the runtime gets.
    Listed("names-of-pods", "runtime", r"sandbox: (name|host name)|\S+: host name", replaced("-node-a$")),
    Listed("our-label", "runtime", "sandbox: labels", only_probelet("^probelet.dev/node=")),
    Listed("config-annotations", "runtime", "sandbox: annotations", only_kubelet(r"^kubernetes.io/config\.")),
    Listed("cgroups", "runtime", r"\S+: OCI (cgroup|CPU shares)"),
    Listed("volumes-and-dns", "runtime", "sandbox: DNS", if_true(lambda kubelet, probelet: probelet == {})),
    Listed("service-variables", "runtime", r"\S+: environment", only_kubelet("^KUBERNETES_")),
    Listed("service-variables", "status", r"\S+: status", without('"KUBERNETES_[^"]*",?'), pods="crash-log-message"),
    # Back-off.
    Listed("late-wake", "containers", r"\S+: restarts, after s", later_wakes(exact=True), ENDS),
    Listed("late-wake", "containers", r"\S+: restarts, after s", later_wakes(exact=False), f"(?!{ENDS}$).*"),
    Listed("waiting-shown", "status", r"\S+: waiting", if_true(alike_without(r"restarts=\d+|back-off \w+"))),
    # Syncs and removals.
    Listed("sync-after-sync", "events", "events", only_kubelet(TIMED_OUT), pods="killed-sandbox"),
    Listed("sync-after-sync", "node", "median: from startup's success to readiness, s", later("kubelet", 1.3)),
    Listed("removal-to-sigterm", "node", "median: from the removal to SIGTERM, s", later("probelet", 1.0)),
    Listed(
        "readiness-of-a-removed-pod", "events", "events", only_probelet("Readiness probe failed: .*deadline exceeded")
    ),
    Listed("readiness-of-a-removed-pod", "removal", r"\S+: last probe, after s", later("probelet", 10.0)),
    Listed(
        "readiness-of-a-removed-pod",
        "removal",
        r"\S+: probed until its end",
        if_true(lambda kubelet, probelet: probelet),
    ),
    Listed("removed-while-down", "removal", r"\S+: (SIGTERM|end), after s", pods=REMOVED_WHILE_DOWN),
    Listed("sandboxes-kept", "left", ".*: (containers|sandboxes|logs|folders of pods)", only_kubelet(".")),
    Listed("links-to-logs", "left", ".*: links to logs", only_kubelet(".")),
    Listed("hook-request", "removal", r"\S+: request of the hook", without(HOOK_HEADERS)),
    Listed("exec-canceled", "events", "events", only_kubelet("code = Canceled desc = context canceled")),
    # Manifests, restarts of the agent.
    Listed(
        "unusable-manifest", "(containers|probes|status|events|removal|metrics|restarts|left)", ".*", pods="file-broken"
    ),
    Listed("status-after-a-restart", "restarts", r"agent restarts: \S+: status", if_true(same_end)),
    # Metrics.
    Listed("help-texts", "node", "metrics: HELP and TYPE", replaced(r"\[(ALPHA|BETA|STABLE)\] ")),
)
