"""Which pods are in force while their files change. The files are real, and the tests move the clock."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from probelet.config import Gates
from probelet.node.source.file_calls import FileCalls
from probelet.node.source.files import SETTLE_NS, ManifestFiles, Scan
from probelet.spec.text.duration import HOUR, MINUTE, SECOND

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
  - name: app
    command: [sleep, "{seconds}"]
"""


def pod(name: str, seconds: int = 1) -> str:
    return POD.format(name=name, seconds=seconds)


class Watched:
    """Watched files, and the pods in force: ``pods`` maps a name to the last word of the pod's command."""

    def __init__(self, *paths: Path, gates: Gates | None = None, node: str = "", replicas: bool = False) -> None:
        self.files = ManifestFiles(
            list(paths), gates or Gates(), FileCalls(), runtime="process", node=node, replicas=replicas
        )
        self.now = 100 * SECOND
        self.pods: dict[str, str] = {}
        self.begun: list[str] = []

    def begin(self) -> None:
        loaded = self.files.first()
        self.begun = [str(problem) for problem in loaded.problems]
        self._set(Scan(loaded.pods, [], [], False))

    def _set(self, look: Scan) -> None:
        if look.pods is not None:
            self.pods = {found.pod.metadata.name: found.pod.spec.containers[0].command[-1] for found in look.pods}

    def look(self, ns: int = 0) -> Scan:
        self.now += ns
        look = self.files.scan(self.now)
        self._set(look)
        return look

    def settled(self) -> Scan:
        """Looks twice: the first look sees a change, the second one comes after it has settled."""
        assert self.look().unsettled
        look = self.look(SETTLE_NS)
        assert not look.unsettled
        return look


Watch = Callable[..., Watched]


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    monkeypatch.chdir(tmp_path)
    Path("pods").mkdir()

    def begin(*paths: str, gates: Gates | None = None) -> Watched:
        watched = Watched(*map(Path, paths or ("pods",)), gates=gates)
        watched.begin()
        return watched

    return begin


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def lines(look: Scan) -> list[str]:
    return [str(problem) for problem in look.problems]


def test_a_look_without_a_change_reads_nothing(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    assert watched.look(HOUR) == Scan(None, [], [], False)


def test_a_file_that_comes_changes_or_goes_changes_its_pods(watch: Watch) -> None:
    watched = watch()
    write("pods/a.yaml", pod("a"))
    watched.settled()
    assert watched.pods == {"a": "1"}
    write("pods/a.yaml", pod("a", 2))
    write("pods/b.yaml", pod("b"))
    watched.settled()
    assert watched.pods == {"a": "2", "b": "1"}
    Path("pods/a.yaml").unlink()
    watched.settled()
    assert watched.pods == {"b": "1"}


def test_a_change_is_read_only_when_it_has_settled(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    for seconds in (2, 3, 4):
        write("pods/a.yaml", pod("a", seconds) + "#" * seconds)
        assert watched.look(SETTLE_NS).unsettled
    assert watched.pods == {"a": "1"}
    assert not watched.look(SETTLE_NS).unsettled
    assert watched.pods == {"a": "4"}


def test_a_file_that_is_open_for_writing_is_not_read_and_the_others_are(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    with Path("pods/a.yaml").open("w") as file:
        # Half a file is valid YAML, but not the pod that its author means.
        file.write(pod("a", 2))
        file.flush()
        write("pods/b.yaml", pod("b"))
        watched.look()
        assert watched.look(HOUR).unsettled
        assert watched.pods == {"a": "1", "b": "1"}
        file.write("    env: [{name: A, value: b}]\n")
    watched.look()
    assert not watched.look(SETTLE_NS).unsettled
    assert watched.pods == {"a": "2", "b": "1"}


def test_an_editor_that_removes_and_writes_anew_ends_nothing(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    Path("pods/a.yaml").unlink()
    assert watched.look() == Scan(None, [], [], True)
    write("pods/a.yaml", pod("a", 2))
    assert watched.look(SETTLE_NS // 2) == Scan(None, [], [], True)
    assert watched.pods == {"a": "1"}
    watched.look(SETTLE_NS)
    assert watched.pods == {"a": "2"}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n---\n"])
def test_a_file_that_is_emptied_keeps_its_pods(watch: Watch, text: str) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    write("pods/a.yaml", text)
    look = watched.settled()
    assert (lines(look), look.kept) == (["pods/a.yaml: warning: no pod in this file"], ["default/a"])
    assert watched.pods == {"a": "1"}


def test_a_mistake_in_one_pod_keeps_its_old_version_and_takes_the_other_pods_of_the_file(watch: Watch) -> None:
    write("pods/two.yaml", pod("a") + "---\n" + pod("b"))
    watched = watch()
    write("pods/two.yaml", pod("a", 2).replace("spec:", "spec:\n  restartPolicy: Sometimes") + "---\n" + pod("b", 2))
    look = watched.settled()
    assert look.kept == ["default/a"]
    assert lines(look) == [
        'pods/two.yaml:5: spec.restartPolicy: Unsupported value: "Sometimes": supported values: '
        '"Always", "OnFailure", "Never"'
    ]
    assert watched.pods == {"a": "1", "b": "2"}


def test_a_file_that_is_no_yaml_keeps_all_its_pods(watch: Watch) -> None:
    write("pods/two.yaml", pod("a") + "---\n" + pod("b"))
    watched = watch()
    write("pods/two.yaml", pod("a", 2) + "---\n}")
    look = watched.settled()
    assert look.kept == ["default/a", "default/b"]
    assert "not YAML" in lines(look)[0]
    assert watched.pods == {"a": "1", "b": "1"}
    Path("pods/two.yaml").unlink()
    watched.settled()
    assert watched.pods == {}


def test_a_mistake_is_reported_once_and_again_when_the_file_is_saved_again(watch: Watch) -> None:
    watched = watch()
    write("pods/a.yaml", "a: [")
    assert len(watched.settled().problems) == 1
    assert watched.look(HOUR) == Scan(None, [], [], False)
    write("pods/a.yaml", "a: [[")
    assert len(watched.settled().problems) == 1


def test_a_pod_in_force_is_not_replaced_by_another_of_its_name(watch: Watch) -> None:
    write("pods/m.yaml", pod("web"))
    watched = watch()
    # Its name sorts first, but the file comes later.
    write("pods/a.yaml", pod("web", 2))
    message = 'pods/a.yaml:1: metadata.name: Duplicate value: "default/web": already defined at pods/m.yaml:1'
    assert lines(watched.settled()) == [message]
    assert watched.pods == {"web": "1"}
    # A change of another file does not repeat the problem; a change of this file does.
    write("pods/b.yaml", pod("b"))
    assert lines(watched.settled()) == []
    write("pods/a.yaml", pod("web", 3))
    assert lines(watched.settled()) == [message]
    write("pods/m.yaml", pod("web", 4))
    assert lines(watched.settled()) == []
    assert watched.pods == {"web": "4", "b": "1"}
    # Once the other file is gone, this file's pod is in force.
    Path("pods/m.yaml").unlink()
    assert lines(watched.settled()) == []
    assert watched.pods == {"web": "3", "b": "1"}


def test_a_renamed_file_is_no_duplicate(watch: Watch) -> None:
    write("pods/b.yaml", pod("web"))
    watched = watch()
    Path("pods/b.yaml").rename("pods/a.yaml")
    assert lines(watched.settled()) == []
    assert watched.pods == {"web": "1"}


def test_a_directory_that_vanishes_ends_its_pods_and_starts_them_when_it_returns(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()
    Path("pods").rename("elsewhere")
    assert lines(watched.settled()) == ["pods: warning: is gone: it holds no pods"]
    assert watched.pods == {}
    assert watched.look(MINUTE) == Scan(None, [], [], False)
    Path("elsewhere").rename("pods")
    watched.settled()
    assert watched.pods == {"a": "1"}


def test_a_directory_that_another_replaces_ends_only_the_pods_that_the_new_one_lacks(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    write("pods/b.yaml", pod("b"))
    watched = watch()
    Path("new").mkdir()
    write("new/a.yaml", pod("a"))
    Path("pods").rename("old")
    assert watched.look() == Scan(None, [], [], True)
    Path("new").rename("pods")
    watched.look(SETTLE_NS)
    assert lines(watched.look(SETTLE_NS)) == []
    assert watched.pods == {"a": "1"}


def test_a_file_that_vanishes_ends_its_pod_and_starts_it_when_it_returns(watch: Watch) -> None:
    write("web.yaml", pod("web"))
    watched = watch("web.yaml")
    Path("web.yaml").unlink()
    assert lines(watched.settled()) == ["web.yaml: warning: is gone: it holds no pods"]
    assert watched.pods == {}
    write("web.yaml", pod("web"))
    assert lines(watched.settled()) == []
    assert watched.pods == {"web": "1"}


def test_a_directory_that_cannot_be_listed_keeps_its_pods(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch()

    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_dir", refuse)
        assert lines(watched.look(MINUTE)) == ["pods: cannot be read: Permission denied"]
        assert watched.look(MINUTE) == Scan(None, [], [], False)
    assert watched.look(MINUTE) == Scan(None, [], [], False)
    assert watched.pods == {"a": "1"}


def test_a_file_that_cannot_be_read_any_more_keeps_its_pod(watch: Watch) -> None:
    path = write("pods/a.yaml", pod("a"))
    watched = watch()
    path.unlink()
    path.symlink_to("a.yaml")
    look = watched.settled()
    assert lines(look) == ["pods/a.yaml: cannot be read: Too many levels of symbolic links"]
    assert look.kept == ["default/a"]
    path.unlink()
    os.mkfifo(path)
    assert lines(watched.settled()) == ["pods/a.yaml: cannot be read: not a regular file"]
    assert watched.pods == {"a": "1"}


def test_two_nodes_with_the_same_manifest_have_different_pods(tmp_path: Path) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(pod("web"))

    def uid(node: str) -> str:
        (found,) = Watched(path, node=node).files.first().pods
        return found.pod.metadata.uid

    assert uid("a") == uid("a") != uid("b")


def test_a_file_that_is_named_twice_is_read_once(watch: Watch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = watch("pods", "pods/a.yaml", "pods")
    assert watched.begun == []
    assert watched.pods == {"a": "1"}


GRACE = "    livenessProbe: {exec: {command: [sleep]}, terminationGracePeriodSeconds: 7}\n"


def test_a_field_whose_gate_is_off_is_dropped_from_a_new_version_too(watch: Watch) -> None:
    gates = Gates(wanted={"ProbeTerminationGracePeriod": False})
    write("pods/a.yaml", pod("a") + GRACE)
    watched = watch(gates=gates)
    write("pods/a.yaml", pod("a", 2) + GRACE)
    look = watched.settled()
    assert look.pods is not None
    probe = look.pods[0].pod.spec.containers[0].liveness_probe
    assert probe is not None
    assert probe.termination_grace_period_seconds is None
