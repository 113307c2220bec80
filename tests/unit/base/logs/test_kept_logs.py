"""Which logs stay when pods and runs have ended."""

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from probelet.base.files import below
from probelet.base.logs import kept as kept_module
from probelet.base.logs.kept import KeptLogs

NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
KIBIBYTE = 1024


def write(logs: KeptLogs, pod: str, name: str, age: int, size: int = KIBIBYTE) -> Path:
    """A log that was written ``age`` seconds before noon, in whole blocks."""
    path = logs.root / pod / "app" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size * 4)
    os.utime(path, (NOON.timestamp() - age,) * 2)
    return path


def files(state: Path) -> list[str]:
    return sorted(f"{path.parent.parent.name}/{path.name}" for path in state.rglob("*.log"))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "BYTES_MAX", 3 * 4 * KIBIBYTE)


def test_the_newest_logs_of_what_has_ended_stay_within_the_limit(tmp_path: Path) -> None:
    first = KeptLogs(tmp_path, NOON)
    write(first, "old", "0.log", 50)
    write(first, "old", "1.log", 20)
    first.close()
    second = KeptLogs(tmp_path, NOON)
    assert second.root.name == "20261122-120000-2"
    running = [write(second, "running", f"{count}.log", 90) for count in range(5)]
    write(second, "gone", "0.log", 30)
    write(second, "gone", "1.log", 10)
    second.pod_ended("gone")
    second.prune()
    assert files(tmp_path) == ["gone/0.log", "gone/1.log", "old/1.log", *(f"running/{it.name}" for it in running)]
    second.pod_begins("gone")
    write(second, "other", "0.log", 5, size=4 * KIBIBYTE)
    second.pod_ended("other")
    second.prune()
    assert files(tmp_path) == ["gone/0.log", "gone/1.log", *(f"running/{it.name}" for it in running)]


def test_the_description_of_a_pod_goes_with_its_last_log(tmp_path: Path) -> None:
    logs = KeptLogs(tmp_path, NOON)
    log = write(logs, "gone", "0.log", 10)
    description = log.parent.parent / "pod.json"
    description.write_text("{}")
    os.utime(description, (0, 0))
    for count in (1, 2):
        write(logs, "gone", f"{count}.log", 20 + count)
    logs.close()
    assert description.exists()
    assert files(tmp_path) == ["gone/0.log", "gone/1.log"]


def test_only_the_last_runs_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "RUNS_MAX", 3)
    for minute in range(5):
        logs = KeptLogs(tmp_path, NOON + timedelta(minutes=minute))
        write(logs, f"pod-{minute}", "0.log", 0)
        logs.close()
    assert files(tmp_path) == ["pod-2/0.log", "pod-3/0.log", "pod-4/0.log"]


def test_a_run_with_too_many_files_goes_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_module, "FILES_MAX", 3)
    flooded = KeptLogs(tmp_path, NOON)
    for count in range(9):
        write(flooded, "flood", f"{count}.log", 0, size=0)
    KeptLogs(tmp_path, NOON + timedelta(minutes=1))
    assert files(tmp_path) == []


def test_only_this_user_enters_the_folder_and_no_link_is_followed(tmp_path: Path) -> None:
    logs = KeptLogs(tmp_path, NOON)
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700
    victim = tmp_path / "victim"
    (victim / "app").mkdir(parents=True)
    (victim / "app" / "0.log").write_bytes(b"x" * 100_000)
    (logs.root / "planted").symlink_to(victim)
    logs.close()
    assert (victim / "app" / "0.log").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "logs").symlink_to(victim)
    with pytest.raises(OSError, match="Not a directory"):
        KeptLogs(tmp_path / "other", NOON)


def test_a_run_without_logs_leaves_nothing(tmp_path: Path) -> None:
    KeptLogs(tmp_path, NOON).close()
    assert list(tmp_path.iterdir()) == []


async def test_pods_that_end_while_the_run_goes_on_are_pruned(tmp_path: Path) -> None:
    logs = KeptLogs(tmp_path, NOON)
    for count in range(4):
        write(logs, "gone", f"{count}.log", count)
    logs.pod_ended("gone")

    class Paused(Exception): ...

    async def pause(_: int) -> None:
        raise Paused

    with pytest.raises(Paused):
        await logs.follow(pause)
    assert below.names_in(logs.root, "gone", "app") != []
    assert files(tmp_path) == ["gone/0.log", "gone/1.log", "gone/2.log"]
