"""The difference between the running pods and the wanted pods."""

from pathlib import Path

import msgspec
from probelet.node.source.difference import difference
from probelet.spec.model.pod import Pod
from probelet.spec.read.load import Manifest


def manifest(uid: str, digest: str = "d", *, name: str = "") -> Manifest:
    pod = msgspec.convert({"metadata": {"name": name or uid, "namespace": "default", "uid": uid}}, Pod)
    return Manifest(pod=pod, path=Path("m.yaml"), line=1, digest=digest)


def test_new_pods_are_added_missing_pods_removed_and_the_others_left_running() -> None:
    change = difference({"a": manifest("a"), "b": manifest("b")}, [manifest("b"), manifest("c")])
    assert change.removed == ("a",)
    assert [m.pod.metadata.uid for m in change.added] == ["c"]


def test_a_changed_manifest_under_the_same_uid_changes_its_pod() -> None:
    newer = manifest("a", "e")
    change = difference({"a": manifest("a")}, [newer])
    assert (change.removed, change.changed, change.added) == ((), (newer,), ())


def test_a_pod_of_another_name_under_the_same_uid_is_another_pod() -> None:
    renamed = manifest("a", "e", name="b")
    change = difference({"a": manifest("a")}, [renamed])
    assert (change.removed, change.changed, change.added) == (("a",), (), (renamed,))


def test_an_equal_set_of_pods_changes_nothing() -> None:
    change = difference({"a": manifest("a")}, [manifest("a")])
    assert (change.removed, change.changed, change.added) == ((), (), ())
