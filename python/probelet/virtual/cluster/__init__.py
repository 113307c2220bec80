"""A cluster in virtual time: workloads, Services, traffic and faults over the production prober, policy and back-off.

    cluster = VirtualCluster("web.yaml", nodes=3, seed=7)
    cluster.behave("web/app", startup="12s", latency="40ms", concurrency=16, asks={"readiness": ["auth"]})
    cluster.dependency("auth", latency="5ms")
    cluster.traffic("web", rate=300)
    cluster.fault(DependencySlow("auth", "1.5s", at="60s", lasts="90s"))
    cluster.run("10m")
    assert cluster.requests("web").lost == 0, cluster.timeline()

``VirtualCluster`` is the cluster. ``Behaviour`` says how a container is, the faults
(``Fault`` and its subclasses) what happens at a time, ``History`` what has happened. A mistake in a manifest raises
``ManifestError``, one in a name, a behaviour, a fault or a duration ``ClusterError``. The modules inside are internal.

Laws
 1. Every decision is production code. On each node the core decides when to probe and what an answer means,
    ``PodMachine`` what to kill and to start, ``RestartGate`` when a restart may happen. Restarts are per node; so are
    starvation, slowness and the restart of a prober.
 2. Containers answer by their behaviour and by the load that they carry. Both live in Rust (``ClusterModel``), so a
    cluster in which nothing but probes happens never enters Python. Python sees what changes: syncs, endpoints, faults,
    rollouts.
 3. There is one clock. Answers and load change only where Python acts, and Rust stops at the first moment in which a
    node asks for a sync; at that moment everything that was due on every node has happened.
 4. Load is a flow, not single requests: a rate, a bounded queue for each replica, a client's timeout. Counts are
    integrals in closed form. Every request that is offered is served or lost; a late one is served.
 5. All randomness comes from ``seed``, and each probe, container and node has numbers of its own: one more pod, or
    another timeout, changes no other pod's numbers. Same inputs, same order, same seed: the same history, byte for
    byte.
 6. The package knows no files but manifests, no scenario and no text output but ``timeline``.

What is modelled of the control plane: Deployment (maxSurge, maxUnavailable, minReadySeconds, progressDeadlineSeconds,
Recreate), StatefulSet (ordered or parallel, rolling update from the highest ordinal), DaemonSet (rolling update by
maxUnavailable), ReplicaSet and ReplicationController, Services by selector, PodDisruptionBudgets for ``Evict``. Not
modelled: scheduling by resources (pods go to the node with the fewest), autoscaling, Jobs and bare pods' controllers,
the node controller's evictions, and how long the API server takes. A PodDisruptionBudget limits evictions only; neither
restarts of containers nor rollouts ask it, as in Kubernetes.

A virtual cluster stops only for Python
---------------------------------------
``probelet.virtual.cluster`` puts several such nodes on one agenda, each with a simulation and a restart gate of its
own. A day of 1,000 pods is 17 million runs, so ``play``, which returns to Python at each of the prober's deadlines,
is too slow there. ``play_together`` (``simulation/together.rs``) plays all simulations up to the agenda's next entry
and stops before it only at a moment in which a pod asks for a sync; at that moment it finishes everything due on
every node. Simulations go in the order of their next events, the first of equal ones first, so where a caller makes
its stops changes no sum.

The answers come from one ``ClusterModel`` that all simulations share (the trait ``Answers``; a script is the other
implementation). It has no deadlines of its own: between two calls of Python everything follows in closed form, so it
counts requests and finds an answer when a caller asks. Python tells it of starts, ends, endpoints, rates,
dependencies and faults, and nothing else changes an answer. Each probe and each container draws from a generator of
its own, seeded by its name: one more pod, or another timeout, changes no other pod's numbers, so two variants of a
manifest are compared under the same luck.

Load is a flow because single requests would cost more than all probes together, and a reader can check a flow by
hand; docs/virtual-cluster.md has the formulas. At a utilisation of 0.95 the formula of the steady state gives way to
the queue's own growth: with the bare formula a load just below saturation would fill any queue at once, and a load just
above it only slowly.
"""

import warnings

from probelet.errors import ClusterError, ManifestError
from probelet.virtual.cluster.behaviour import Behaviour, Leak, Pause, Spread
from probelet.virtual.cluster.cluster import VirtualCluster
from probelet.virtual.cluster.fault import (
    Deadlock,
    DependencyDown,
    DependencySlow,
    Evict,
    Exit,
    Fault,
    GcPause,
    MemoryLeak,
    NodeSlow,
    Partition,
    ProberRestart,
    ProberStarved,
    Rollout,
    SlowLeak,
    StartupDrift,
    StartupSlow,
    TrafficStep,
)
from probelet.virtual.cluster.record import (
    Attempt,
    Event,
    Exited,
    FaultSpan,
    History,
    Kill,
    LoadStep,
    PodRecord,
    ProbeRecord,
    Requests,
    ServiceRecord,
    Span,
)

__all__ = [
    "Attempt",
    "Behaviour",
    "ClusterError",
    "Deadlock",
    "DependencyDown",
    "DependencySlow",
    "Event",
    "Evict",
    "Exit",
    "Exited",
    "Fault",
    "FaultSpan",
    "GcPause",
    "History",
    "Kill",
    "Leak",
    "LoadStep",
    "ManifestError",
    "MemoryLeak",
    "NodeSlow",
    "Partition",
    "Pause",
    "PodRecord",
    "ProbeRecord",
    "ProberRestart",
    "ProberStarved",
    "Requests",
    "Rollout",
    "ServiceRecord",
    "SlowLeak",
    "Span",
    "Spread",
    "StartupDrift",
    "StartupSlow",
    "TrafficStep",
    "VirtualCluster",
]


def __getattr__(name: str) -> object:
    if name != "Cluster":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The deprecated name (docs/versions.md). It is not kept, so that each place that uses it warns.
    warnings.warn(f"{__name__}.Cluster is now {__name__}.VirtualCluster", DeprecationWarning, stacklevel=2)
    return VirtualCluster
