"""The webhook: W ids of docs/dev/enhanced-liveness-cases.md."""

import copy
import json
from typing import Any

import msgspec
import pytest
from probelet.beside.guard.context.codec import decode, encode
from probelet.beside.guard.mutation import ANNOTATIONS_BYTES_MAX, Mutation, Options, mutate
from probelet.beside.guard.names import CONTEXT, OPT_IN
from probelet.spec.text.duration import HOUR, MINUTE
from probelet.webhook.handler import IGNORED, mutate_enhanced_liveness
from probelet.webhook.review import AdmissionRequest, AdmissionResponse, Refusal

EXEC = {"exec": {"command": ["/admin/liveness.sh"]}}
HTTP = {
    "httpGet": {"path": "/health", "port": 7001, "scheme": "HTTP"},
    "initialDelaySeconds": 3000,
    "timeoutSeconds": 5,
    "periodSeconds": 100,
    "successThreshold": 1,
    "failureThreshold": 3,
}
HTTP_TEXT = (
    '{"name":"c1","livenessProbe":{"httpGet":{"path":"/health","port":7001,"scheme":"HTTP"},'
    '"initialDelaySeconds":3000,"timeoutSeconds":5,"periodSeconds":100,"successThreshold":1,"failureThreshold":3}}'
)
CLONE_SET = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "web", "uid": "u", "controller": True}
REPLICA_SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def pod(*probes: Any, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": f"c{number}", "image": "x"} for number in range(1, len(probes) + 1)]
    for container, probe in zip(containers, probes, strict=True):
        if probe is not None:
            container["livenessProbe"] = copy.deepcopy(probe)
    noted = {OPT_IN: "true"} if annotations is None else annotations
    return {"metadata": {"name": "web-1", "annotations": noted}, "spec": {"containers": containers, **spec}}


def answer(obj: dict[str, Any], options: Options | None = None) -> Mutation:
    before = copy.deepcopy(obj)
    mutation = mutate(obj, options or Options())
    assert obj == before, "the pod is not changed"
    assert mutation == mutate(obj, options or Options())
    return mutation


def patched(obj: dict[str, Any], mutation: Mutation) -> dict[str, Any]:
    """The pod after the patch, by RFC 6902 as far as the webhook uses it."""
    result = copy.deepcopy(obj)
    for operation in mutation.patch:
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        target: Any = result
        for part in way:
            target = target[int(part)] if isinstance(target, list) else target[part]
        assert operation["op"] == "add" or last in target
        if operation["op"] == "remove":
            del target[last]
        else:
            target[last] = operation["value"]
    return result


def context(obj: dict[str, Any], options: Options | None = None) -> str | None:
    mutation = answer(obj, options)
    assert mutation.refusal == ""
    text: str | None = patched(obj, mutation)["metadata"]["annotations"].get(CONTEXT)
    return text


# kruise TestRemoveAndBackUpPodContainerLivenessProbe.


def test_upstream_backup_1_one_container() -> None:
    obj = pod(HTTP)
    assert context(obj) == f"[{HTTP_TEXT}]"
    assert "livenessProbe" not in patched(obj, answer(obj))["spec"]["containers"][0]


def test_upstream_backup_2_two_containers_in_order() -> None:
    expected = f'[{HTTP_TEXT},{{"name":"c2","livenessProbe":{{"exec":{{"command":["/admin/liveness.sh"]}}}}}}]'
    assert context(pod(HTTP, EXEC)) == expected


def test_upstream_backup_3_a_container_without_probe_is_left_out() -> None:
    assert context(pod(HTTP, EXEC, None)) == context(pod(HTTP, EXEC))


def test_upstream_backup_4_no_probe_no_annotation() -> None:
    assert answer(pod(None)).result == "unchanged"
    assert context(pod(None)) is None


# kruise TestUsingEnhancedLivenessProbe.


@pytest.mark.parametrize("value", [None, "false", "True", "1", "yes", " true", ""])
def test_upstream_using_only_the_exact_word_opts_in(value: str | None) -> None:
    """W-1."""
    obj = pod(HTTP, annotations={} if value is None else {OPT_IN: value})
    assert answer(obj) == Mutation("skipped")


# kruise TestEnhancedLivenessProbeLink.


def test_upstream_link_1_two_containers_of_a_clone_set() -> None:
    obj = pod(HTTP, {"tcpSocket": {"port": 7001}, "successThreshold": 2})
    obj["metadata"]["ownerReferences"] = [CLONE_SET]
    after = patched(obj, answer(obj, Options(owner_scope="kruise", validate=False)))
    entries = json.loads(after["metadata"]["annotations"][CONTEXT])
    assert entries[1] == {"name": "c2", "livenessProbe": {"tcpSocket": {"port": 7001}, "successThreshold": 2}}
    assert all("livenessProbe" not in container for container in after["spec"]["containers"])
    assert "successThreshold: Invalid value: 2: must be 1" in answer(obj).refusal


def test_upstream_link_2_without_opt_in_nothing_changes() -> None:
    assert answer(pod(HTTP, HTTP, annotations={"other": "x"})).patch == ()


# W-1.


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"subResource": "ephemeralcontainers"},
        {"resource": {"group": "apps", "version": "v1", "resource": "pods"}},
        {"resource": {"group": "", "version": "v1", "resource": "replicationcontrollers"}},
    ],
)
def test_w1_only_the_creation_of_pods(fields: dict[str, Any]) -> None:
    request = {
        "uid": "1",
        "operation": "CREATE",
        "resource": {"version": "v1", "resource": "pods"},
        "object": pod(HTTP),
    }
    handle = mutate_enhanced_liveness(Options())
    answered = handle(msgspec.convert(request, AdmissionRequest))
    assert isinstance(answered, AdmissionResponse)
    assert answered.result == "mutated"
    assert handle(msgspec.convert(request | fields, AdmissionRequest)) == IGNORED


def test_w5_the_refusal_reaches_the_api_server_as_a_bad_request() -> None:
    request = {"uid": "1", "operation": "CREATE", "resource": {"version": "v1", "resource": "pods"}}
    bad = msgspec.convert(request | {"object": pod({"exec": {}})}, AdmissionRequest)
    refusal = mutate_enhanced_liveness(Options())(bad)
    assert isinstance(refusal, Refusal)
    assert (refusal.result, refusal.code, refusal.reason) == ("refused", 400, "BadRequest")
    assert "livenessProbe.exec.command: Required value" in refusal.message


def test_w1_the_gate_is_off() -> None:
    assert answer(pod(HTTP), Options(enabled=False)) == Mutation("skipped")


# W-2 and T-4.


def test_w2_t4_pods_of_any_owner_by_default_and_of_kruise_by_choice() -> None:
    obj = pod(HTTP)
    obj["metadata"]["ownerReferences"] = [REPLICA_SET]
    assert answer(obj).result == "mutated"
    assert answer(obj, Options(owner_scope="kruise")) == Mutation("skipped")
    obj["metadata"]["ownerReferences"] = [CLONE_SET]
    assert answer(obj, Options(owner_scope="kruise")).result == "mutated"
    obj["metadata"]["ownerReferences"] = [{**CLONE_SET, "controller": False}]
    assert answer(obj, Options(owner_scope="kruise")) == Mutation("skipped")


# W-3.


def test_w3_zero_values_are_left_out_ports_and_services_are_not() -> None:
    probe = {"grpc": {"service": "", "port": 9000}, "timeoutSeconds": 1, "initialDelaySeconds": 0}
    assert context(pod(probe)) == (
        '[{"name":"c1","livenessProbe":{"grpc":{"port":9000,"service":""},"timeoutSeconds":1}}]'
    )


def test_w3_every_field_in_gos_order() -> None:
    probe = {
        "terminationGracePeriodSeconds": 5,
        "failureThreshold": 3,
        "httpGet": {
            "httpHeaders": [{"value": "", "name": "Accept"}],
            "scheme": "HTTPS",
            "port": "web",
            "path": "/a?b=1",
        },
        "successThreshold": 1,
        "periodSeconds": 4,
        "timeoutSeconds": 3,
        "initialDelaySeconds": 2,
    }
    assert context(pod(probe)) == (
        '[{"name":"c1","livenessProbe":{"httpGet":{"path":"/a?b=1","port":"web","scheme":"HTTPS",'
        '"httpHeaders":[{"name":"Accept","value":""}]},"initialDelaySeconds":2,"timeoutSeconds":3,"periodSeconds":4,'
        '"successThreshold":1,"failureThreshold":3,"terminationGracePeriodSeconds":5}}]'
    )


def test_w3_characters_of_html_are_escaped_and_others_are_not() -> None:
    command = ['a && b <c> \u2028\u2029 ü \U0001f600 \t"\\']
    text = context(pod({"exec": {"command": command}}))
    assert text is not None
    assert 'a \\u0026\\u0026 b \\u003cc\\u003e \\u2028\\u2029 ü \U0001f600 \\t\\"\\\\' in text
    [entry] = decode(text)
    assert entry.liveness_probe.exec is not None
    assert entry.liveness_probe.exec.command == command


def test_w3_any_order_of_keys_and_white_space_is_read() -> None:
    spaced = ' [ {"livenessProbe" : {"failureThreshold":3, "exec":{"command":[ "a" ]}}, "name":"c1"} ]\n'
    assert encode(decode(spaced)) == ('[{"name":"c1","livenessProbe":{"exec":{"command":["a"]},"failureThreshold":3}}]')


# W-4, T-1, T-3.


def test_w4_t3_the_annotation_wins_and_the_native_probe_goes() -> None:
    written = '[{"name":"c2","livenessProbe":{"tcpSocket":{"port":1}}}]'
    obj = pod(HTTP, EXEC, annotations={OPT_IN: "true", CONTEXT: written})
    after = patched(obj, answer(obj))
    assert after["metadata"]["annotations"][CONTEXT] == f"[{HTTP_TEXT},{written[1:]}"
    assert all("livenessProbe" not in container for container in after["spec"]["containers"])


def test_w4_a_hand_written_annotation_without_native_probes_stays_as_it_is() -> None:
    written = ' [{"livenessProbe":{"tcpSocket":{"port":1}}, "name":"c1"}]'
    mutation = answer(pod(None, annotations={OPT_IN: "true", CONTEXT: written}))
    assert (mutation.result, mutation.patch) == ("unchanged", ())


def test_t1_called_again_after_a_sidecar_was_injected_nothing_is_lost() -> None:
    command = {"exec": {"command": ["sh", "-c", "a && b"]}}
    obj = pod(command)
    first = patched(obj, answer(obj))
    first["spec"]["containers"].insert(0, {"name": "mesh", "livenessProbe": EXEC})
    second = patched(first, answer(first))
    entries = json.loads(second["metadata"]["annotations"][CONTEXT])
    assert [entry["name"] for entry in entries] == ["mesh", "c1"]
    assert entries[1]["livenessProbe"] == command
    assert "\\u0026\\u0026" in second["metadata"]["annotations"][CONTEXT]
    assert answer(second).result == "unchanged"


# W-5 and S-2.

PATH = f"metadata.annotations[{CONTEXT}]"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{", f"{PATH}: not a JSON list"),
        ('{"name":"c1"}', f"{PATH}: Invalid value"),
        ('[{"name":"c9","livenessProbe":{"exec":{"command":["a"]}}}]', f'{PATH}[0].name: Not found: "c9"'),
        (
            '[{"name":"c1","livenessProbe":{"exec":{"command":["a"]}}},'
            '{"name":"c1","livenessProbe":{"exec":{"command":["a"]}}}]',
            f'{PATH}[1].name: Duplicate value: "c1"',
        ),
        ("[" * 200 + "]" * 200, f"{PATH}: nested deeper than 100 levels"),
        ('[{"name":"c1"}]', f"{PATH}[0].livenessProbe: Required value: must specify a handler type"),
        (
            '[{"name":"c1","livenessProbe":{"exec":{"command":["a"]},"tcpSocket":{"port":1}}}]',
            f"{PATH}[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
        ),
        (
            '[{"name":"c1","livenessProbe":{"tcpSocket":{"port":70000}}}]',
            f"{PATH}[0].livenessProbe.tcpSocket.port: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            '[{"name":"c1","livenessProbe":{"tcpSocket":{"port":1},"periodSeconds":-1}}]',
            f"{PATH}[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            '[{"name":"c1","livenessProbe":{"tcpSocket":{"port":1},"successThreshold":2}}]',
            f"{PATH}[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            '[{"name":"c1","livenessProbe":{"tcpSocket":{"port":1,"host":"169.254.169.254"}}}]',
            f"{PATH}[0].livenessProbe.tcpSocket.host: Forbidden",
        ),
        (
            '[{"name":"c1","livenessProbe":{"tcpSokket":{"port":1}}}]',
            f"{PATH}[0].livenessProbe.tcpSokket: unknown field",
        ),
    ],
)
def test_w5_a_bad_annotation_is_refused_with_the_field(written: str, expected: str) -> None:
    mutation = answer(pod(None, annotations={OPT_IN: "true", CONTEXT: written}))
    assert (mutation.result, mutation.patch) == ("refused", ())
    assert expected in mutation.refusal


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ({"httpGet": {"path": "/", "port": 0, "scheme": "HTTP"}}, "livenessProbe.httpGet.port: Invalid value: 0"),
        ({"exec": {}}, "livenessProbe.exec.command: Required value"),
        ({"periodSeconds": 5}, "livenessProbe: Required value: must specify a handler type"),
        ({"httpGet": {"path": "/", "port": 1, "host": "10.0.0.9"}}, "livenessProbe.httpGet.host: Forbidden"),
        ({"exec": {"command": ["a"]}, "periodSeconds": "x"}, 'periodSeconds: Invalid value: "x": must be an integer'),
    ],
)
def test_w5_native_probes_are_validated_before_they_leave_the_spec(probe: dict[str, Any], expected: str) -> None:
    mutation = answer(pod(None, probe))
    assert mutation.result == "refused"
    assert mutation.refusal.startswith("spec.containers[1].")
    assert expected in mutation.refusal


@pytest.mark.parametrize(("count", "rest"), [(10, None), (11, "1 more mistakes"), (13, "3 more mistakes")])
def test_a_refusal_names_at_most_ten_mistakes(count: int, rest: str | None) -> None:
    lines = answer(pod(*[{"exec": {}}] * count)).refusal.split("; ")
    named = [line for line in lines if line.startswith("spec.containers[")]
    assert (len(named), lines[10:]) == (10, [] if rest is None else [rest])


def test_w5_a_host_header_is_allowed() -> None:
    headers = [{"name": "Host", "value": "shop.example"}]
    assert answer(pod({"httpGet": {"port": 1, "httpHeaders": headers}})).result == "mutated"


# W-6.


def test_w6_missing_fields_are_not_defaulted() -> None:
    assert context(pod({"tcpSocket": {"port": 1}})) == '[{"name":"c1","livenessProbe":{"tcpSocket":{"port":1}}}]'


# W-8, W-9, W-10.


def test_w8_a_sidecar_keeps_its_probe_with_a_warning() -> None:
    obj = pod(HTTP, initContainers=[{"name": "mesh", "restartPolicy": "Always", "livenessProbe": EXEC}])
    mutation = answer(obj)
    assert "the sidecar mesh keeps its liveness probe" in mutation.warnings[1]
    assert patched(obj, mutation)["spec"]["initContainers"] == obj["spec"]["initContainers"]


def test_w9_startup_and_readiness_probes_stay() -> None:
    obj = pod(HTTP)
    obj["spec"]["containers"][0] |= {"startupProbe": EXEC, "readinessProbe": EXEC}
    container = patched(obj, answer(obj))["spec"]["containers"][0]
    assert (container["startupProbe"], container["readinessProbe"]) == (EXEC, EXEC)


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
def test_w10_pods_that_might_stay_down_keep_their_probes(policy: str) -> None:
    mutation = answer(pod(HTTP, restartPolicy=policy))
    assert (mutation.result, mutation.patch) == ("skipped", ())
    assert f"restartPolicy {policy}" in mutation.warnings[0]


def test_w10_a_container_with_a_restart_policy_of_its_own_keeps_its_probe() -> None:
    obj = pod(HTTP, EXEC)
    obj["spec"]["containers"][0]["restartPolicy"] = "OnFailure"
    mutation = answer(obj)
    assert patched(obj, mutation)["spec"]["containers"][0] == obj["spec"]["containers"][0]
    assert "the container c1 keeps its liveness probe" in mutation.warnings[1]


def test_a_native_probe_with_a_field_that_this_release_does_not_know_stays() -> None:
    mutation = answer(pod({**HTTP, "newField": 1}))
    assert (mutation.result, mutation.patch) == ("unchanged", ())
    assert "does not know spec.containers[0].livenessProbe.newField" in mutation.warnings[0]


# W-11.


def test_w11_the_warning_lists_the_containers() -> None:
    assert "takes over the liveness probe of c1, c2;" in answer(pod(HTTP, EXEC)).warnings[0]


def test_w11_annotations_that_would_be_too_large_are_refused() -> None:
    command = {"exec": {"command": ["x" * 1000]}}
    room = ANNOTATIONS_BYTES_MAX - len(OPT_IN + "true" + CONTEXT + "k") - len(str(context(pod(command))))
    fits = pod(command, annotations={OPT_IN: "true", "k": "v" * room})
    assert answer(fits).result == "mutated"
    large = pod(command, annotations={OPT_IN: "true", "k": "v" * (room + 1)})
    assert f"must have at most {ANNOTATIONS_BYTES_MAX} bytes" in answer(large).refusal


# The fallback, which OpenKruise does not have.


FALLBACK, MADE = "probelet.dev/fallback", "probelet.dev/made-probes"


def test_the_kubelet_keeps_a_fallback_of_half_an_hour_at_least() -> None:
    noted = {OPT_IN: "true", FALLBACK: "1h"}
    obj = pod(EXEC, HTTP, None, annotations=noted)
    mutation = answer(obj)
    after = patched(obj, mutation)
    natives = [container.get("livenessProbe") for container in after["spec"]["containers"]]
    assert natives == [{**EXEC, "failureThreshold": 360}, {**HTTP, "failureThreshold": 36}, None]
    assert [entry.liveness_probe.failure_threshold for entry in decode(after["metadata"]["annotations"][CONTEXT])] == [
        0,
        3,
    ]
    assert json.loads(after["metadata"]["annotations"][MADE]) == {"c1": ["livenessProbe"], "c2": ["livenessProbe"]}
    assert "no longer restarts by itself within 3600 s" in mutation.warnings[0]
    # A second call finds what the first one has left.
    assert answer(after).result == "unchanged"
    assert context(pod(EXEC, annotations={OPT_IN: "true"}), Options(fallback_ns=HOUR)) == context(pod(EXEC))


def test_the_webhooks_default_is_too_short_for_enhanced_liveness_and_a_pods_own_is_refused() -> None:
    obj = pod(EXEC)
    after = patched(obj, answer(obj, Options(fallback_ns=10 * MINUTE)))
    assert after["spec"]["containers"][0]["livenessProbe"]["failureThreshold"] == 180
    refused = answer(pod(EXEC, annotations={OPT_IN: "true", FALLBACK: "10m"})).refusal
    assert refused == (
        'metadata.annotations[probelet.dev/fallback]: Invalid value: "10m": must be a duration of at least 30m, or none'
    )
    none = pod(EXEC, annotations={OPT_IN: "true", FALLBACK: "none"})
    assert "livenessProbe" not in patched(none, answer(none, Options(fallback_ns=HOUR)))["spec"]["containers"][0]


def test_what_the_other_webhook_made_stays_named() -> None:
    noted = {OPT_IN: "true", FALLBACK: "1h", MADE: '{"c1":["startupProbe"]}'}
    obj = pod(EXEC, annotations=noted)
    after = patched(obj, answer(obj))
    assert json.loads(after["metadata"]["annotations"][MADE]) == {"c1": ["livenessProbe", "startupProbe"]}


def test_a_native_probe_that_a_person_names_as_made_is_taken_all_the_same() -> None:
    obj = pod(EXEC, annotations={OPT_IN: "true", MADE: '{"c1":["livenessProbe"]}'})
    assert "livenessProbe" not in patched(obj, answer(obj))["spec"]["containers"][0]
