"""PL307: a database with a liveness probe and no startup probe."""

from collections.abc import Iterator
from typing import Any, Final

from probelet.lint.command.looks_at import looks_at
from probelet.lint.command.why_it_succeeds import why_it_succeeds
from probelet.lint.facts.image import IN_MEMORY, database
from probelet.lint.facts.recovery import answers_in_recovery
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintContainer
from probelet.lint.rule import Rule, on_containers

_TEXTS: Final = frozenset({"configMap", "secret", "projected", "downwardAPI", "image"})
"""Volumes that hold no data of a database."""


def check(container: LintContainer) -> Iterator[Hit]:
    """Looks for a database with data that survives its restarts."""
    liveness, budget, name = container.liveness, container.startup_budget, database(container)
    if name is None or liveness is None or container.startup is not None or budget is None:
        return
    if (
        not _has_data(container, name)
        or looks_at(liveness.argv) is not None
        or why_it_succeeds(liveness.argv) is not None
        or answers_in_recovery(liveness, name)
    ):
        # A database that recovers has its process and its files, and some answer.
        return
    yield liveness.hit(
        "",
        f"{name} has {budget.earliest} to {budget.latest} s for its start, then liveness kills it: recovery after a "
        "crash reads the log of all changes first, takes as long as there are changes, and begins anew after each "
        "kill",
    )


def _has_data(container: LintContainer, name: str) -> bool:
    """True if the container mounts a volume in which its data survives its restarts. That of a database in memory has
    to outlive the pod too, or it is a cache."""
    volumes: list[Any] = container.workload.pod.spec.volumes or []
    kinds = {volume.get("name"): volume.keys() for volume in volumes if isinstance(volume, dict)}
    others = {*_TEXTS, "emptyDir", "ephemeral"} if name in IN_MEMORY else _TEXTS
    mounts: list[Any] = container.spec.volume_mounts or []
    for mount in mounts:
        # A volume that is not in the pod is a claim of the StatefulSet.
        if isinstance(mount, dict) and not mount.get("readOnly") and not kinds.get(mount.get("name"), set()) & others:
            return True
    return False


RULE = Rule(
    id="PL307",
    name="database-without-startup",
    severity="warning",
    summary="A database has a liveness probe and no startup probe, so its recovery after a crash may be killed.",
    why="""
A database that crashed repeats the log of its changes before it accepts a connection. That takes seconds on most days
and many minutes after a busy hour or on a slow disk. To the liveness probe it looks like a container that hangs. The
kill ends the recovery, the next one begins from the same place, and the database never comes up again, although nothing
is wrong with it. It is the longest outage that a probe can make, because it begins at the worst moment.

A startupProbe with a budget of an hour costs nothing on the days on which the start takes a second. Only a container
with a volume for data is reported: without one there is nothing to recover. For redis and its kin the volume has to
outlive the pod, because without such a volume they are caches.
""",
    formula="d - 1 + (F - 1) x p to d + p + (F - 1) x max(p, T) + T of liveness is all the time that a recovery has",
    source=(
        "Redis, redis-cli -e: return exit error code when command execution fails",
        "RabbitMQ, monitoring guide: stages 1 and 2 of health checks",
        "https://github.com/pawtograder/platform/pull/946",
        "https://github.com/sclorg/postgresql-container/pull/320",
        "https://github.com/cagriekin/charts/issues/141",
        "Breck, Liveness: you risk never starting the application",
    ),
    fix="""
Add a startupProbe with the handler of readiness, periodSeconds 10 and a failureThreshold of 360 (an hour).
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: orders-db}
 spec:
   volumes:
     - name: data
       persistentVolumeClaim: {claimName: orders-db}
   containers:
     - name: postgres
       image: postgres:17
       volumeMounts: [{name: data, mountPath: /var/lib/postgresql/data}]
+      startupProbe:
+        exec: {command: [pg_isready, -U, postgres]}
+        timeoutSeconds: 5
+        failureThreshold: 360
       livenessProbe:
         exec: {command: [pg_isready, -U, postgres]}
         timeoutSeconds: 5
""",
    scenario="startup-drift",
    check=on_containers(check),
    confidence="heuristic",
)
