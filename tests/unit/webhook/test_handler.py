"""The handler that moves probes, as a function."""

import msgspec
import pytest
from probelet.webhook.handler import label_pods, mutate_probes
from probelet.webhook.review import AdmissionResponse, Refusal, decode_review

from tests.unit.webhook.reviews import POD, review

handle = mutate_probes("probelet-system")


def test_a_new_pod_gets_its_patch() -> None:
    answer = handle(decode_review(review()))
    assert isinstance(answer, AdmissionResponse)
    assert (answer.result, answer.warnings) == ("taken-over", ())
    assert [operation["path"] for operation in answer.operations] == [
        "/spec/containers/0/livenessProbe",
        "/metadata/annotations",
    ]


def test_a_dry_run_gets_the_same_answer() -> None:
    assert handle(decode_review(review(dryRun=True))) == handle(decode_review(review()))


def test_the_namespace_is_that_of_the_request() -> None:
    # An object of a new pod may lack it.
    answer = handle(decode_review(review(namespace="probelet-system")))
    assert isinstance(answer, AdmissionResponse)
    assert answer.result == "native"


@pytest.mark.parametrize("change", [{"operation": "UPDATE", "oldObject": POD}, {"subResource": "status"}])
def test_other_requests_pass_as_they_are(change: dict[str, object]) -> None:
    assert handle(decode_review(review(**change))) == AdmissionResponse("ignored")


@pytest.mark.parametrize("obj", [None, [], {"spec": {"containers": 7}}])
def test_an_object_that_is_no_pod_is_a_bad_request(obj: object) -> None:
    answer = handle(decode_review(review(object=obj)))
    assert isinstance(answer, Refusal)
    assert (answer.code, answer.reason) == (400, "BadRequest")
    assert answer.message.startswith("request.object is no v1.Pod: ")


def test_the_request_is_not_changed() -> None:
    request = decode_review(review())
    before = msgspec.json.encode(request.object)
    handle(request)
    assert msgspec.json.encode(request.object) == before


@pytest.mark.parametrize("labels", [None, {}, {"app": "web"}])
def test_a_pod_of_a_namespace_that_asks_gets_the_label(labels: dict[str, str] | None) -> None:
    pod = {**POD, "metadata": {"name": "web"} if labels is None else {"name": "web", "labels": labels}}
    answer = label_pods(decode_review(review(object=pod)))
    assert isinstance(answer, AdmissionResponse)
    (operation,) = answer.operations
    assert operation["path"] == "/metadata/labels" if labels is None else "/metadata/labels/probelet.dev~1managed"


@pytest.mark.parametrize("value", ["true", "false", ""])
def test_a_pod_with_the_label_stays_as_it_is(value: str) -> None:
    pod = {**POD, "metadata": {"labels": {"probelet.dev/managed": value}}}
    assert label_pods(decode_review(review(object=pod))) == AdmissionResponse("nothing")


def test_what_is_no_new_pod_gets_no_label() -> None:
    assert label_pods(decode_review(review(operation="UPDATE", oldObject=POD))) == AdmissionResponse("ignored")
    answer = label_pods(decode_review(review(object=[])))
    assert isinstance(answer, Refusal)
