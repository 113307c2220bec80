"""A file or directory that hangs keeps its pods, with one line; the others are read."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from probelet.config import Gates
from probelet.node.source import file_calls
from probelet.node.source import files as files_module
from probelet.node.source.file_calls import FileCalls
from probelet.node.source.files import SETTLE_NS, ManifestFiles, Scan
from probelet.spec.text.duration import SECOND

from tests.unit.node.source.test_manifest_files import pod


class Stall:
    """Calls of the module that get a path of this name wait, each at its own place: stat, list, open."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: dict[str, set[str]] = {"stamp_of": set(), "manifest_text": set(), "manifests_at": set()}
        self.over = threading.Event()
        for name, waits in self.names.items():
            monkeypatch.setattr(files_module, name, self._stalled(getattr(files_module, name), waits))

    def _stalled(self, call: Any, waits: set[str]) -> Any:
        def stalled(path: Path, *more: Any) -> Any:
            if path.name in waits:
                self.over.wait()
            return call(path, *more)

        return stalled


@pytest.fixture
def stall(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stall]:
    stall = Stall(monkeypatch)
    yield stall
    stall.over.set()


class Watched:
    def __init__(self, *paths: Path) -> None:
        self.files = ManifestFiles(paths, Gates(), FileCalls(0.02), runtime="process")
        self.now = 100 * SECOND

    def first(self) -> tuple[set[str], list[str]]:
        loaded = self.files.first()
        return {found.pod.metadata.name for found in loaded.pods}, list(map(str, loaded.problems))

    def look(self) -> Scan:
        self.now += 2 * SETTLE_NS
        return self.files.scan(self.now)


def names(look: Scan) -> set[str]:
    assert look.pods is not None
    return {found.pod.metadata.name for found in look.pods}


def lines(look: Scan) -> list[str]:
    return [str(problem) for problem in look.problems]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "pods"
    path.mkdir()
    for name in ("a", "b", "c"):
        (path / f"{name}.yaml").write_text(pod(name))
    return path


@pytest.mark.parametrize("call", ["stamp_of", "manifest_text"])
def test_at_the_start_a_file_that_hangs_is_one_mistake(folder: Path, stall: Stall, call: str) -> None:
    stall.names[call].add("b.yaml")
    assert Watched(folder).first() == ({"a", "c"}, [f"{folder}/b.yaml: cannot be read: no answer within 0.02 s"])


@pytest.mark.parametrize("call", ["stamp_of", "manifest_text"])
def test_later_a_file_that_hangs_keeps_its_pod_and_the_others_change(folder: Path, stall: Stall, call: str) -> None:
    watched = Watched(folder)
    watched.first()
    stall.names[call].add("b.yaml")
    (folder / "b.yaml").write_text(pod("b", 2))
    (folder / "c.yaml").unlink()
    (folder / "d.yaml").write_text(pod("d"))
    first, second = watched.look(), watched.look()
    assert names(second) == {"a", "b", "d"}
    assert lines(first) + lines(second) == [f"{folder}/b.yaml: cannot be read: no answer within 0.02 s"]
    # The line comes once, and the file is read when the call has returned.
    assert lines(watched.look()) == []
    stall.names[call].clear()
    stall.over.set()
    for thread in threading.enumerate():
        if thread.name == "probelet-files":
            thread.join()
    sets = [look.pods for look in (watched.look(), watched.look()) if look.pods is not None]
    assert [found.pod.spec.containers[0].command[-1] for found in sets[-1]] == ["1", "2", "1"]


def test_a_directory_that_hangs_keeps_its_pods_and_the_others_change(folder: Path, stall: Stall) -> None:
    other = folder.parent / "other"
    other.mkdir()
    watched = Watched(folder, other)
    watched.first()
    stall.names["manifests_at"].add("pods")
    (other / "d.yaml").write_text(pod("d"))
    first, second = watched.look(), watched.look()
    assert names(second) == {"a", "b", "c", "d"}
    assert f"{folder}: cannot be read: no answer within 0.02 s" in lines(first)
    assert lines(second) == []


def test_a_program_on_a_file_system_that_hangs_only_loses_its_warning(
    folder: Path, stall: Stall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_module, "missing_programs", lambda _: stall.over.wait())
    assert Watched(folder).first() == ({"a", "b", "c"}, [])


def test_when_too_many_calls_hang_one_line_says_so(folder: Path, stall: Stall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_calls, "HANGING_MAX", 2)
    stall.names["stamp_of"].update({"a.yaml", "b.yaml"})
    _, problems = Watched(folder).first()
    assert problems[-1].endswith("calls of the file system hang: other files are not read before one of them returns")
    assert len(problems) == 3
    assert len([thread for thread in threading.enumerate() if thread.name == "probelet-files"]) == 2
