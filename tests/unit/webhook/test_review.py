"""Reviews in and out: what an API server sends, and what it would not."""

import base64
from typing import Any

import msgspec
import pytest
from probelet.webhook.limit import WARNINGS_BYTES_MAX
from probelet.webhook.review import AdmissionResponse, Refusal, ReviewError, decode_review, encode_review

from tests.unit.webhook.reviews import POD, review


def response(answer: AdmissionResponse | Refusal) -> dict[str, Any]:
    document = msgspec.json.decode(encode_review("u", answer))
    assert (document["apiVersion"], document["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    found: dict[str, Any] = document["response"]
    assert found.pop("uid") == "u"
    return found


def test_a_request_is_read_and_its_object_stays_plain_data() -> None:
    request = decode_review(review())
    assert (request.namespace, request.name, request.object) == ("default", "web", POD)
    assert request.creates_pod


@pytest.mark.parametrize(
    "change",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"subResource": "binding"},
        {"resource": {"group": "apps", "version": "v1", "resource": "deployments"}},
        {"resource": {"group": "metrics.k8s.io", "version": "v1", "resource": "pods"}},
    ],
)
def test_anything_but_a_new_pod_is_no_new_pod(change: dict[str, Any]) -> None:
    assert not decode_review(review(**change)).creates_pod


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not an AdmissionReview of admission.k8s.io/v1"),
        (b"\xff\xfe", "not an AdmissionReview"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"request":' * 5000, "not an AdmissionReview"),
        (
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
            '"admission.k8s.io/v1beta1": this',
        ),
        (b'{"kind":"Pod","apiVersion":"v1"}', '"Pod" of "v1": this server answers an AdmissionReview'),
        (b"{}", '"" of "": this server'),
        (b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', "without a request and its uid"),
        (review(uid=""), "without a request and its uid"),
        (review(uid=7), "Expected `str`, got `int`"),
        (review(dryRun="yes"), "Expected `bool | null`"),
    ],
)
def test_a_body_that_no_api_server_sends_is_one_line(body: bytes, words: str) -> None:
    with pytest.raises(ReviewError) as raised:
        decode_review(body)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_answer_without_a_change_has_no_patch() -> None:
    assert response(AdmissionResponse("nothing")) == {"allowed": True}


def test_a_patch_is_base64_of_the_operations() -> None:
    operations = [{"op": "remove", "path": "/spec/containers/0/livenessProbe"}]
    found = response(AdmissionResponse("taken-over", operations, ["a warning"]))
    assert (found["allowed"], found["patchType"], found["warnings"]) == (True, "JSONPatch", ["a warning"])
    assert msgspec.json.decode(base64.b64decode(found["patch"])) == operations


def test_a_refusal_is_a_status() -> None:
    assert response(Refusal("malformed", 400, "BadRequest", "why")) == {
        "allowed": False,
        "status": {"status": "Failure", "code": 400, "reason": "BadRequest", "message": "why"},
    }


def test_warnings_beyond_the_api_servers_limit_are_counted_in_a_last_one() -> None:
    warnings = [f"{index:03}" + "w" * 253 for index in range(40)]
    found = response(AdmissionResponse("native", (), warnings))["warnings"]
    assert sum(len(warning) for warning in found) <= WARNINGS_BYTES_MAX
    assert found[:-1] == warnings[: len(found) - 1]
    assert found[-1] == f"probelet: and {40 - len(found) + 1} more warnings"
