"""The handlers of pods: pure functions from a request to an answer."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from probelet.beside.guard.mutation import Options, mutate
from probelet.beside.takeover import patch, view
from probelet.beside.takeover.namespace import asking
from probelet.beside.takeover.view import ViewError
from probelet.webhook.review import AdmissionRequest, AdmissionResponse, Refusal

Handler: TypeAlias = Callable[[AdmissionRequest], AdmissionResponse | Refusal]
"""Answers one request. It raises nothing that it knows; for an exception the API server gets the HTTP status 500."""

AsyncHandler: TypeAlias = Callable[[AdmissionRequest], Awaitable[AdmissionResponse | Refusal]]
"""A ``Handler`` that asks the API server first."""

IGNORED = AdmissionResponse("ignored")
"""The answer to a request that a handler is not for, whatever the webhook's rules say."""


def mutate_probes(own_namespace: str, fallback_ns: int = 0) -> Handler:
    """The handler that moves the probes of new pods to the annotation. ``own_namespace`` is probelet's own;
    ``fallback_ns`` counts for pods that name no fallback, 0 for none."""

    def handle(request: AdmissionRequest) -> AdmissionResponse | Refusal:
        if not request.creates_pod:
            return IGNORED
        try:
            change = patch(
                request.object,
                namespace=request.namespace or "",
                own_namespace=own_namespace,
                fallback_ns=fallback_ns,
            )
        except ViewError as error:
            return _no_pod(error)
        return AdmissionResponse(change.result, change.operations, change.warnings)

    return handle


def label_pods(request: AdmissionRequest) -> AdmissionResponse | Refusal:
    """Gives a new pod of a namespace that asks for the takeover the label with which a pod asks."""
    if not request.creates_pod:
        return IGNORED
    try:
        operations = asking(request.object)
    except ViewError as error:
        return _no_pod(error)
    return AdmissionResponse("labelled" if operations else "nothing", operations)


def mutate_enhanced_liveness(options: Options) -> Handler:
    """The handler that moves the liveness probes of new pods to the annotation of enhanced liveness."""

    def handle(request: AdmissionRequest) -> AdmissionResponse | Refusal:
        if not request.creates_pod:
            return IGNORED
        try:
            view(request.object)
        except ViewError as error:
            return _no_pod(error)
        change = mutate(request.object, options)
        if change.refusal:
            return Refusal(change.result, 400, "BadRequest", change.refusal)
        return AdmissionResponse(change.result, change.patch, change.warnings)

    return handle


def _no_pod(error: ViewError) -> Refusal:
    """The answer to an object that no API server sends, because it has decoded the object before."""
    return Refusal("malformed", 400, "BadRequest", f"request.object is no v1.Pod: {error}")
