"""AdmissionReview, ``admission.k8s.io/v1``: the request that an API server sends, and the response that it reads."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from probelet.errors import ProbeletError
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import shorten
from probelet.webhook.limit import WARNINGS_BYTES_MAX

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"


class ReviewError(ProbeletError, ValueError):
    """The body is no review that this server can answer: one line, for an answer with the HTTP status 400."""


class Resource(msgspec.Struct, frozen=True):
    """The resource of a request: for pods ``group`` is empty."""

    group: str = ""
    version: str = ""
    resource: str = ""


class AdmissionRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """``request``: the fields that handlers read."""

    uid: str
    """Names the request in the response."""
    resource: Resource = Resource()
    sub_resource: str | None = None
    operation: str = ""
    """CREATE, UPDATE, DELETE or CONNECT."""
    namespace: str | None = None
    name: str | None = None
    """Empty if the API server is to make a name of ``generateName``."""
    dry_run: bool | None = None
    object: Any = None
    """The new object as plain JSON data, as far as other webhooks have changed it."""
    old_object: Any = None

    @property
    def creates_pod(self) -> bool:
        """The request is about a new pod, not a subresource or another kind."""
        return (
            self.operation == "CREATE"
            and not self.sub_resource
            and self.resource.resource == "pods"
            and not self.resource.group
        )


class AdmissionResponse(msgspec.Struct, frozen=True):
    """The answer of a handler: the object is admitted, with a change."""

    result: str
    """One word for the metrics, one of few."""
    operations: Sequence[Mapping[str, Any]] = ()
    """A JSON patch (RFC 6902); empty for no change."""
    warnings: Sequence[str] = ()
    """For the person who sent the request, one line each."""


class Refusal(msgspec.Struct, frozen=True):
    """The answer of a handler: the object is refused, with the Status that the person gets."""

    result: str
    """One word for the metrics, one of few."""
    code: int
    """The HTTP status of the Status, such as 400."""
    reason: str
    """``metav1.StatusReason``, such as ``BadRequest``."""
    message: str
    """One line."""


class _Review(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    api_version: str = ""
    kind: str = ""
    request: AdmissionRequest | None = None


_DECODER: Final = msgspec.json.Decoder(_Review)


def decode_review(body: bytes) -> AdmissionRequest:
    """Reads a review. Raises ReviewError for another version or kind, for a review without a request, for no JSON."""
    try:
        review = _DECODER.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ReviewError(f"not an {KIND} of {API_VERSION}: {error}") from None
    if (review.api_version, review.kind) != (API_VERSION, KIND):
        found = f"{shorten(go_quote(review.kind))} of {shorten(go_quote(review.api_version))}"
        raise ReviewError(f"{found}: this server answers an {KIND} of {API_VERSION}")
    if review.request is None or not review.request.uid:
        raise ReviewError(f"an {KIND} without a request and its uid")
    return review.request


def encode_review(uid: str, answer: AdmissionResponse | Refusal) -> bytes:
    """The review with the answer to the request ``uid``."""
    response: dict[str, Any] = {"uid": uid, "allowed": isinstance(answer, AdmissionResponse)}
    match answer:
        case AdmissionResponse():
            if answer.operations:
                response["patchType"] = "JSONPatch"
                response["patch"] = base64.b64encode(msgspec.json.encode(answer.operations)).decode()
            if answer.warnings:
                response["warnings"] = _fitting(answer.warnings)
        case Refusal():
            response["status"] = {
                "status": "Failure",
                "code": answer.code,
                "reason": answer.reason,
                "message": answer.message,
            }
    return msgspec.json.encode({"apiVersion": API_VERSION, "kind": KIND, "response": response})


def _fitting(warnings: Sequence[str]) -> list[str]:
    """Returns as many warnings as the API server passes on whole, and a last one with the number of the others."""
    size = 0
    for count, warning in enumerate(warnings):
        size += len(warning.encode())
        if size > WARNINGS_BYTES_MAX:
            return [*warnings[: count - 1], f"probelet: and {len(warnings) - count + 1} more warnings"]
    return list(warnings)
