"""A workload as a rule sees it: a Pod, or an object with a pod template."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from probelet.lint.fix.change import Fix
from probelet.lint.observed.container import ObservedClients
from probelet.lint.rule import Hit
from probelet.lint.settings import Settings
from probelet.lint.severity import Confidence, Severity
from probelet.lint.world.container import LintContainer
from probelet.lint.world.neighbour import Autoscaler, DisruptionBudget, NetworkPolicy, Service
from probelet.lint.world.route import Route
from probelet.lint.world.world import World
from probelet.spec.model.pod import Pod

_TO_THEIR_END: Final = frozenset({"Job", "CronJob"})


@dataclass(eq=False)
class LintWorkload:
    """One object with pods, and everything that belongs to it."""

    kind: str
    """``Deployment``, ``StatefulSet``, ``DaemonSet``, ``ReplicaSet``, ``ReplicationController``, ``Job``, ``CronJob``
    or ``Pod``."""
    written_namespace: str
    """Empty if the text has none."""
    name: str
    """Empty for an object with ``generateName``."""
    object: Any
    """The decoded object, for fields of the workload itself such as ``spec.strategy``: a type of ``spec.model``. Fields
    that are ``Opaque`` there are plain values here."""
    pod: Pod
    """The pod of the template, with its defaults."""
    template: str
    """The path of the pod in the object: ``spec.template``; empty for a Pod."""
    replicas: int
    """How many pods it asks for; 1 for a DaemonSet."""
    world: World
    declared_startup: Mapping[str, float]
    """Container -> seconds, from the annotation ``probelet.dev/startup-seconds``."""
    containers: list[LintContainer] = field(default_factory=list)
    """All containers of which no field is mistaken, in the order regular, init, ephemeral."""

    @property
    def label(self) -> str:
        """``Deployment/default/web``."""
        return f"{self.kind}/{self.pod.metadata.namespace}/{self.name or self.pod.metadata.generate_name}"

    @property
    def settings(self) -> Settings:
        """The settings of this run."""
        return self.world.settings

    @cached_property
    def probed(self) -> list[LintContainer]:
        """The regular containers and sidecars that have a probe. The API server refuses a probe of any other."""
        return [found for found in self.containers if found.probes and found.role in ("regular", "sidecar")]

    @property
    def is_single(self) -> bool:
        """True if the pod has one container."""
        return len(self.containers) == 1

    @property
    def runs_forever(self) -> bool:
        """True if its containers are started again whenever they end."""
        return self.kind not in _TO_THEIR_END and self.pod.spec.restart_policy == "Always"

    @property
    def is_daemon(self) -> bool:
        """True for one pod a node: how many there are is not in the manifest."""
        return self.kind == "DaemonSet"

    @cached_property
    def replicas_min(self) -> int:
        """The fewest pods it may have: an autoscaler's ``minReplicas``, else ``replicas``."""
        least = [found.spec.min_replicas or 1 for found in self.autoscalers]
        return min(least) if least else self.replicas

    @cached_property
    def services(self) -> list[Service]:
        """The Services that select its pods."""
        return list(self.world.services(self))

    @cached_property
    def disruption_budgets(self) -> list[DisruptionBudget]:
        """The PodDisruptionBudgets that select its pods."""
        return list(self.world.disruption_budgets(self))

    @cached_property
    def autoscalers(self) -> list[Autoscaler]:
        """The autoscalers that scale it."""
        return list(self.world.autoscalers(self))

    @cached_property
    def network_policies(self) -> list[NetworkPolicy]:
        """The NetworkPolicies that select its pods."""
        return list(self.world.network_policies(self))

    @cached_property
    def routes(self) -> list[Route]:
        """The Ingresses, HTTPRoutes and VirtualServices in front of its Services."""
        return list(self.world.routes(self))

    @cached_property
    def clients(self) -> list[ObservedClients]:
        """What was seen of its clients; empty without ``--observed``."""
        names = [service.metadata.name for service in self.services]
        return self.world.observations.clients(self.written_namespace, self.name, names)

    def in_pod(self, field: str) -> str:
        """The path in the object of a field of its pod: ``spec.hostNetwork`` is ``spec.template.spec.hostNetwork``."""
        return f"{self.template}.{field}".lstrip(".")

    def hit(
        self,
        path: str,
        message: str,
        *,
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> Hit:
        """A hit at a path of the object, such as ``spec.replicas``; ``in_pod`` has those of the pod."""
        return Hit(path, message, severity, confidence, fix)
