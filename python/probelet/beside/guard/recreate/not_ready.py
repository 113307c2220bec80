"""The condition KruisePodReady: pods out of service for the unready grace period of a request.

Source: kruise 1.9.0 pkg/util/podreadiness. The condition's message is a JSON list with a row for each reason to be out
of service, so several requests and other controllers do not put each other's pods back.
"""

from typing import Any, Final

import msgspec

from probelet.beside.guard.names import READINESS_GATE
from probelet.beside.guard.objects.requested_pod import RequestedPod

USER_AGENT: Final = "ContainerRecreateRequest"
GATES_NOT_READY: Final = "ReadinessGatesNotReady"
"""The reason of a condition Ready that a gate keeps False (kubelet status/generate.go, 1.36)."""


class Reason(msgspec.Struct, frozen=True, rename="camel"):
    """One reason to be out of service."""

    user_agent: str = ""
    key: str = ""


class OutOfService(msgspec.Struct, frozen=True):
    """A pod that requests keep out of service."""

    namespace: str
    name: str
    uid: str
    requests: tuple[str, ...]
    """The requests, as ``namespace/name``; none for a pod that is in service."""


def out_of_service(pod: dict[str, Any]) -> OutOfService:
    """Reads which requests keep a v1.Pod out of service: none for almost every pod, so nothing else is decoded."""
    meta = pod.get("metadata") or {}
    requests: tuple[str, ...] = ()
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == READINESS_GATE and condition.get("status") == "False":
            reasons = _read(str(condition.get("message") or ""))
            requests = tuple(each.key for each in reasons if each.user_agent == USER_AGENT)
    return OutOfService(str(meta.get("namespace")), str(meta.get("name")), str(meta.get("uid")), requests)


def taken_out(pod: RequestedPod, request: str, now: str) -> list[dict[str, Any]]:
    """The conditions that take a pod out of service for a request (``namespace/name``); empty if it is out for it
    already."""
    own = Reason(USER_AGENT, request)
    reasons = _read(pod.gate_message)
    if own in reasons and pod.conditions.get(READINESS_GATE) == "False":
        return []
    if own not in reasons:
        reasons.append(own)
    gate = {"type": READINESS_GATE, "status": "False", "lastTransitionTime": now, "message": _text(reasons)}
    if pod.conditions.get("Ready") != "True":
        return [gate]
    # The kubelet would say so too, a sync later; until then the endpoint would get traffic.
    message = f'the status of pod readiness gate "{READINESS_GATE}" is not "True", but False'
    ready = {"type": "Ready", "status": "False", "reason": GATES_NOT_READY, "message": message}
    return [gate, {**ready, "lastTransitionTime": now}]


def put_back(pod: RequestedPod, request: str, now: str) -> list[dict[str, Any]]:
    """The condition without the reason of a request (``namespace/name``); empty if it does not have it."""
    own, reasons = Reason(USER_AGENT, request), _read(pod.gate_message)
    if own not in reasons:
        return []
    left = [each for each in reasons if each != own]
    status = "False" if left else "True"
    return [{"type": READINESS_GATE, "status": status, "lastTransitionTime": now, "message": _text(left)}]


def _read(message: str) -> list[Reason]:
    try:
        return msgspec.json.decode(message or "[]", type=list[Reason])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return []


def _text(reasons: list[Reason]) -> str:
    return msgspec.json.encode(reasons).decode()
