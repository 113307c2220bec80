"""The ContainerRecreateRequest that restarts a container."""

from hashlib import sha256
from typing import Any, Final

from probelet.beside.guard import names
from probelet.beside.guard.objects.moment import text
from probelet.beside.guard.objects.node_probes import ProbeState, cut
from probelet.beside.guard.objects.pod import GuardedContainer, GuardedPod
from probelet.beside.guard.objects.recreate_request import API_VERSION, KIND
from probelet.beside.guard.restart.settings.config import Config

NAME_LENGTH_MAX: Final = 253
LABEL_LENGTH_MAX: Final = 63
"""Kubernetes' limits for the name of an object and the value of a label."""
DIGITS: Final = 12
DEADLINE_SPARE_SECONDS: Final = 300
DEADLINE_LEAST_SECONDS: Final = 60
"""The automatic deadline: this much for pulling and starting, beside the grace periods, and never less."""


def request_name(pod: GuardedPod, container: GuardedContainer) -> str:
    """The name of the request for one instance of a container. The same instance always gets the same name, so a
    restart that is asked for twice happens once."""
    instance = "\0".join((pod.uid, container.name, container.container_id, str(container.restart_count)))
    digest = sha256(instance.encode()).hexdigest()[:DIGITS]
    return f"{pod.name[: NAME_LENGTH_MAX - DIGITS - 1].rstrip('-.')}-{digest}"


def grace_seconds(state: ProbeState, config: Config) -> int | None:
    """The grace period of the request; None: the pod's (R-10)."""
    return config.grace_seconds if state.grace_seconds is None else state.grace_seconds


def request_body(
    pod: GuardedPod, container: GuardedContainer, state: ProbeState, config: Config, *, fills_context: bool
) -> dict[str, Any]:
    """The request for the instance of a container that runs now."""
    name, grace = request_name(pod, container), grace_seconds(state, config)
    strategy: dict[str, Any] = {"failurePolicy": "Fail"}
    if grace is not None:
        strategy["terminationGracePeriodSeconds"] = grace
    unready = config.unready_grace_seconds if pod.has_readiness_gate else None
    if unready is not None:
        strategy["unreadyGracePeriodSeconds"] = unready
    wanted: dict[str, Any] = {"name": container.name}
    if fills_context:
        wanted["statusContext"] = {"containerID": container.container_id, "restartCount": container.restart_count}
    spent = (pod.grace_seconds if grace is None else grace) + (unready or 0)
    deadline = config.active_deadline_seconds or max(spent + DEADLINE_SPARE_SECONDS, DEADLINE_LEAST_SECONDS)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": name,
            "namespace": pod.namespace,
            "labels": _labels(pod),
            "annotations": {
                names.PROBE: state.name,
                names.FAILURE: cut(state.message),
                names.FAILED_SINCE: text(state.since_ns),
                names.DECISION: name.rpartition("-")[2],
            },
            "ownerReferences": [_owner(pod)],
        },
        "spec": {
            "podName": pod.name,
            "containers": [wanted],
            "strategy": strategy,
            "activeDeadlineSeconds": deadline,
            "ttlSecondsAfterFinished": config.ttl_seconds,
        },
    }


def _labels(pod: GuardedPod) -> dict[str, str]:
    labels = {
        names.POD_UID: pod.uid,
        names.NODE_NAME: pod.node,
        names.ACTIVE: "true",
        names.MANAGED: "true",
        names.POD_NAME: pod.name,
    }
    # A pod's name may be longer than a label; the owner and the UID name it in any case.
    return {key: value for key, value in labels.items() if len(value) <= LABEL_LENGTH_MAX}


def _owner(pod: GuardedPod) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": pod.name,
        "uid": pod.uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }
