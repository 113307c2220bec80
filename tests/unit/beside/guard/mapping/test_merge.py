"""The merge: upstream's cases by name, and the M and T ids of docs/dev/enhanced-liveness-cases.md."""

import copy
import random
from typing import Any

import msgspec
from probelet.beside.guard.mapping.merge import OBJECT_BYTES_MAX, Merged, MergeOptions, merge
from probelet.beside.guard.names import CREATED_BY_US
from probelet.beside.guard.objects.pod import GuardedPod

from tests.unit.beside.guard.kubernetes_objects import EXEC_ENTRY, TCP_ENTRY, pod

FOREIGN = {
    "name": "pod2",
    "namespace": "default",
    "uid": "uid-pod2",
    "IP": "9.9.9.9",
    "probes": [{"name": "ppm-1#idle", "containerName": "c1", "probe": {"exec": {"command": ["x"]}, "weird": 1}}],
}
BOTH = f"[{EXEC_ENTRY},{TCP_ENTRY}]"


def node_probe(*entries: dict[str, Any], ours: bool = False) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "node1", "uid": "u", "resourceVersion": "111", "generation": 1}
    if ours:
        meta["annotations"] = {CREATED_BY_US: "true"}
    return {"metadata": meta, "spec": {"podProbes": list(entries)}, "status": {"podProbeStatuses": []}}


def merged(current: dict[str, Any] | None, *pods: GuardedPod, known: set[str] | None = None, **options: Any) -> Merged:
    before = copy.deepcopy(current)
    uids = {each.uid for each in pods} if known is None else known
    result = merge("node1", current, pods, uids, MergeOptions(**options))
    assert current == before, "the object as it was read is not changed"
    return result


def after(current: dict[str, Any] | None, *pods: GuardedPod, **fields: Any) -> dict[str, Any]:
    """The object as the API server would have it after the write."""
    result = merged(current, *pods, **fields)
    assert result.verb in ("create", "replace")
    return msgspec.json.decode(msgspec.json.encode(result.body), type=dict[str, Any])


def names(obj: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(entry["name"], [probe["name"] for probe in entry["probes"]]) for entry in obj["spec"]["podProbes"]]


# Pull request 1544, TestAddOrRemoveNodePodProbeConfig.


def test_upstream_add_appends_behind_the_entries_of_others() -> None:
    obj = after(node_probe(FOREIGN), pod(context=BOTH))
    assert names(obj) == [("pod2", ["ppm-1#idle"]), ("pod1", ["pod1-c1", "pod1-c2"])]


def test_upstream_remove_leaves_the_entries_of_others() -> None:
    obj = after(node_probe(FOREIGN), pod(context=BOTH))
    assert after(obj)["spec"]["podProbes"] == [FOREIGN]


def test_upstream_change_takes_the_new_list() -> None:
    obj = after(node_probe(), pod(context=BOTH))
    assert names(after(obj, pod())) == [("pod1", ["pod1-c1"])]


def test_upstream_no_config_writes_nothing() -> None:
    assert merged(node_probe(FOREIGN)).verb == "none"


# TestGenerateNewNodePodProbe, TestAddNodeProbeConfig, TestRetryOnConflictAdd..., TestRetryOnConflictDel...


def test_upstream_new_object_is_created_and_marked_as_ours() -> None:
    obj = after(None, pod())
    assert obj["apiVersion"] == "apps.kruise.io/v1alpha1"
    assert (obj["kind"], obj["metadata"]["name"]) == ("NodePodProbe", "node1")
    assert obj["metadata"]["annotations"][CREATED_BY_US] == "true"


def test_upstream_no_annotation_no_object() -> None:
    assert merged(None).verb == "none"


def test_upstream_identical_config_is_unchanged() -> None:
    obj = after(node_probe(FOREIGN), pod())
    assert merged(obj, pod()).verb == "none"


def test_the_pods_that_had_an_entry_of_ours_before_are_known() -> None:
    before = after(node_probe(FOREIGN), pod(), pod("other"))
    assert merged(before, pod()).held == {"uid-pod1", "uid-other"}
    assert merged(None, pod()).held == set()


def test_upstream_partial_delete_drops_the_entry() -> None:
    obj = after(None, pod(), pod("pod2"))
    assert names(after(obj, pod("pod2"))) == [("pod2", ["pod2-c1"])]


def test_upstream_full_delete_deletes_the_object() -> None:
    obj = after(None, pod())
    obj["metadata"] |= {"uid": "u", "resourceVersion": "5"}
    result = merged(obj)
    assert result.verb == "delete"
    assert (result.body["metadata"]["uid"], result.body["metadata"]["resourceVersion"]) == ("u", "5")


def test_an_object_of_another_owner_is_never_deleted() -> None:
    """3A.3 row 1."""
    obj = after(node_probe(), pod())
    result = merged(obj)
    assert (result.verb, result.body["spec"]["podProbes"]) == ("replace", [])
    assert merged(after(None, pod()), keep_empty=True).verb == "replace"


# M and T ids.


def test_m7_t7_probes_of_others_for_the_same_pod_survive_byte_for_byte() -> None:
    foreign: dict[str, Any] = {**FOREIGN, "name": "pod1", "uid": "uid-pod1", "unknown": {"a": [1]}}
    obj = after(node_probe(foreign), pod(ip="2.2.2.2"))
    [entry] = obj["spec"]["podProbes"]
    assert entry["probes"][0] == foreign["probes"][0]
    assert (entry["unknown"], entry["IP"]) == ({"a": [1]}, "2.2.2.2")
    changed = after(obj, pod(context=BOTH))
    assert [probe["name"] for probe in changed["spec"]["podProbes"][0]["probes"]] == [
        "ppm-1#idle",
        "pod1-c1",
        "pod1-c2",
    ]
    assert after(changed)["spec"]["podProbes"][0]["probes"] == foreign["probes"]


def test_m8_stale_entries_of_ours_go() -> None:
    obj = after(None, pod("a"), pod("b"), pod("c"))
    assert names(after(obj, pod("b"))) == [("b", ["b-c1"])]


def test_m9_t8_a_pod_of_the_same_name_replaces_the_old_one_in_one_write() -> None:
    obj = after(None, pod(uid="old"))
    entries = after(obj, pod(uid="new"))["spec"]["podProbes"]
    assert [entry["uid"] for entry in entries] == ["new"]


def test_m10_the_object_does_not_grow_beyond_its_limit() -> None:
    def large(number: int) -> GuardedPod:
        command = "x" * 100_000
        return pod(f"p{number:02}", context=f'[{{"name":"c1","livenessProbe":{{"exec":{{"command":["{command}"]}}}}}}]')

    obj = after(None, *[large(number) for number in range(5)])
    result = merged(obj, *[large(number) for number in range(15)])
    entries = result.body["spec"]["podProbes"]
    assert [entry["name"] for entry in entries[:5]] == [f"p{number:02}" for number in range(5)]
    assert len(msgspec.json.encode(entries)) <= OBJECT_BYTES_MAX
    assert len(entries) == 10
    assert {uid for uid, problems in result.problems.items() if problems[0][0] == "ELPSizeLimit"} == {
        f"uid-p{number}" for number in range(10, 15)
    }
    assert result.mapped == {f"uid-p{number:02}" for number in range(10)}


def test_m11_a_changed_annotation_changes_the_entry() -> None:
    obj = after(None, pod(context=f"[{TCP_ENTRY}]"))
    longer = TCP_ENTRY.replace('"port":"web"', '"port":"web"},"periodSeconds":99,"exec":null,"tcpSocket":{"port":1')
    assert merged(obj, pod(context=f"[{TCP_ENTRY.replace('web', 'web')}]")).verb == "none"
    probe = after(obj, pod(context=f"[{longer}]"))["spec"]["podProbes"][0]["probes"][0]["probe"]
    assert (probe["periodSeconds"], probe["tcpSocket"]) == (99, {"port": 1})


def test_m12_the_order_of_pods_does_not_matter() -> None:
    pods = [pod(name, namespace=namespace, uid=f"{namespace}-{name}") for name in "cab" for namespace in ("y", "x")]
    first = after(node_probe(FOREIGN), *pods)
    for seed in range(10):
        random.Random(seed).shuffle(pods)
        assert after(node_probe(FOREIGN), *pods) == first
    assert [entry["name"] for entry in first["spec"]["podProbes"]] == ["pod2", "a", "b", "c", "a", "b", "c"]


def test_an_object_that_another_program_wrote_again_is_not_written() -> None:
    """3A.3 row 11: a zero value that is written or left out means the same."""
    context = '[{"name":"c2","livenessProbe":{"grpc":{"port":1,"service":""},"initialDelaySeconds":0}}]'
    obj = after(None, pod(context=context))
    obj["spec"]["podProbes"][0]["probes"][0]["probe"]["initialDelaySeconds"] = 0
    assert merged(obj, pod(context=context)).verb == "none"


def test_an_address_that_comes_late_is_filled_in() -> None:
    """3A.3 row 4."""
    obj = after(None, pod(ip="", context=BOTH))
    entry = after(obj, pod(ip="3.3.3.3", context=BOTH))["spec"]["podProbes"][0]
    assert (entry["IP"], len(entry["probes"])) == ("3.3.3.3", 2)


def test_s1_the_first_command_is_remembered_while_the_pod_lives() -> None:
    obj = after(None, pod())
    away = after(obj, known={"uid-pod1"})
    assert names(away) == []
    other = pod(context=f"[{EXEC_ENTRY.replace('healthy', 'evil')}]")
    back = merged(away, other)
    assert [reason for reason, _ in back.problems["uid-pod1"]] == ["ELPExecChanged"]
    assert names(after(away, pod())) == [("pod1", ["pod1-c1"])]
    trusted = merged(away, other, trust_changes=True)
    assert trusted.problems == {}


def test_the_naming_changes_without_leaving_old_probes() -> None:
    obj = after(None, pod())
    assert names(after(obj, pod(), naming="coexist")) == [("pod1", ["enhanced-liveness_#c1"])]
