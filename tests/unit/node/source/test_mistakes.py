"""The mistakes of the manifests as they are now, and the pods that stay because of them."""

import io
from pathlib import Path

import pytest
from probelet.node.source.mistakes import MESSAGE_CHARS_MAX, SHOWN_MAX, bounded, mistakes
from probelet.spec.read.load import STDIN
from probelet.spec.text.duration import MINUTE
from probelet.spec.text.problem import ObjectName, Problem

from tests.unit.node.source.test_manifest_files import Watched, pod, write

SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"


def workload(name: str, replicas: int, seconds: int = 1) -> str:
    """A Deployment."""
    template = "\n".join(f"    {line}" for line in pod(name, seconds).splitlines()[2:])
    head = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n"
    return f"{head}  replicas: {replicas}\n  template:\n{template}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pods").mkdir()


def begun(*paths: Path, replicas: bool = False) -> Watched:
    watched = Watched(*(paths or (Path("pods"),)), replicas=replicas)
    watched.begin()
    return watched


def test_a_mistake_at_the_start_costs_its_own_pod() -> None:
    write("pods/a.yaml", pod("a"))
    write("pods/b.yaml", pod("b").replace("spec:", "spec:\n  restartPolicy: Sometimes"))
    write("pods/c.yaml", "a: [")
    write("pods/d.yaml", pod("a", 2))
    watched = begun()
    assert watched.pods == {"a": "1"}
    found = watched.files.mistakes
    assert dict(found.counts) == {"refused": 1, "unreadable": 1, "duplicate": 1}
    assert [(str(problem.path), problem.field) for problem in found.shown] == [
        ("pods/b.yaml", "spec.restartPolicy"),
        ("pods/c.yaml", ""),
        ("pods/d.yaml", "metadata.name"),
    ]
    assert (found.total, found.outdated) == (3, {})
    write("pods/b.yaml", pod("b"))
    Path("pods/c.yaml").unlink()
    Path("pods/d.yaml").unlink()
    watched.settled()
    assert watched.pods == {"a": "1", "b": "1"}
    assert watched.files.mistakes.total == 0


def test_a_pod_of_an_earlier_version_is_outdated_until_its_manifest_is_right() -> None:
    write("pods/two.yaml", pod("a") + "---\n" + pod("b"))
    watched = begun()
    broken = pod("a", 2).replace("spec:", "spec:\n  restartPolicy: Sometimes")
    write("pods/two.yaml", "nonsense: 1\n---\n" + broken + "---\n" + pod("b", 2))
    watched.settled()
    assert watched.pods == {"a": "1", "b": "2"}
    ((name, problem),) = watched.files.mistakes.outdated.items()
    assert (name, problem.field) == ("default/a", "spec.restartPolicy")
    write("pods/two.yaml", pod("a", 3) + "---\n" + pod("b", 2))
    watched.settled()
    assert watched.pods == {"a": "3", "b": "2"}
    assert (watched.files.mistakes.outdated, watched.files.mistakes.total) == ({}, 0)


def test_a_file_that_is_no_yaml_or_empty_makes_all_its_pods_outdated() -> None:
    write("pods/two.yaml", pod("a") + "---\n" + pod("b"))
    watched = begun()
    write("pods/two.yaml", "}")
    watched.settled()
    assert watched.files.mistakes.outdated.keys() == {"default/a", "default/b"}
    write("pods/two.yaml", "")
    watched.settled()
    assert [str(problem) for problem in watched.files.mistakes.outdated.values()] == [
        "pods/two.yaml: warning: no pod in this file"
    ] * 2
    assert watched.files.mistakes.total == 0


def test_a_folder_that_cannot_be_read_is_a_mistake_while_it_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    write("pods/a.yaml", pod("a"))
    watched = begun()

    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_dir", refuse)
        watched.look(MINUTE)
        assert dict(watched.files.mistakes.counts) == {"unreadable": 1, "duplicate": 0}
    watched.look(MINUTE)
    assert watched.files.mistakes.total == 0


def test_a_workload_that_is_scaled_down_ends_pods_beside_a_mistake_too() -> None:
    write("pods/w.yaml", workload("web", 3) + "---\n" + pod("a"))
    watched = begun(replicas=True)
    assert watched.pods.keys() == {"web-0", "web-1", "web-2", "a"}
    write("pods/w.yaml", workload("web", 1) + "---\n" + pod("a").replace("app", "App"))
    assert watched.settled().kept == ["default/a"]
    assert watched.pods.keys() == {"web-0", "a"}
    write("pods/w.yaml", workload("web", 0) + "---\n" + pod("a"))
    watched.settled()
    assert watched.pods.keys() == {"a"}


def test_all_pods_of_a_workload_with_a_mistake_stay() -> None:
    write("pods/w.yaml", workload("web", 2))
    watched = begun(replicas=True)
    write("pods/w.yaml", workload("web", -1))
    watched.settled()
    assert watched.pods.keys() == {"web-0", "web-1"}
    assert watched.files.mistakes.outdated.keys() == {"default/web-0", "default/web-1"}
    assert len(watched.files.mistakes.shown) == 1


def test_a_file_that_keeps_only_objects_without_pods_ends_its_pod() -> None:
    write("pods/a.yaml", pod("a") + "---\n" + SERVICE)
    watched = begun()
    write("pods/a.yaml", SERVICE)
    assert watched.settled().problems == []
    assert watched.pods == {}


def test_pods_of_standard_input_stay_while_files_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{pod('in')}---\n{pod('x', 9)}".encode())))
    write("pods/a.yaml", pod("a"))
    watched = begun(Path("pods"), STDIN)
    assert watched.pods == {"in": "1", "x": "9", "a": "1"}
    write("pods/a.yaml", pod("a", 2) + "---\n" + pod("x"))
    look = watched.settled()
    assert watched.pods == {"in": "1", "x": "9", "a": "2"}
    assert "already defined at /dev/stdin:9" in str(look.problems[0])


def test_what_is_kept_of_mistakes_is_bounded_and_printable() -> None:
    long = "\x1b" * 100_000
    problem = Problem("error", long, Path("a\udcff\n.yaml"), 1, long, ObjectName("Pod", long, long))
    kept = bounded(problem)
    assert len(str(kept)) < 6 * MESSAGE_CHARS_MAX
    assert kept.object is not None
    assert max(len(kept.field), len(kept.object.name), len(kept.object.namespace)) < 1000
    assert (kept.path, str(kept).isprintable(), kept.field.isprintable()) == (
        Path(r"a\xed\xb3\xbf\n.yaml"),
        True,
        True,
    )
    found = mistakes([kept] * SHOWN_MAX, [kept], {})
    assert (len(found.shown), found.total) == (SHOWN_MAX, SHOWN_MAX + 1)
