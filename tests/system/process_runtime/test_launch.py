"""State directories in which the embedded runtime refuses to start."""

import asyncio
import sys
from pathlib import Path

import pytest
from probelet.runtime.embedded import root
from probelet.runtime.embedded.launch import LaunchError, launch

from tests.system.process_runtime.conftest import entries

pytestmark = pytest.mark.e2e


async def test_a_directory_in_use_is_refused_with_its_user(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = await launch(state_dir)
    with pytest.raises(LaunchError) as caught:
        await launch(state_dir)
    assert str(caught.value) == (
        f"embedded runtime: root {state_dir}/runtime: in use by the embedded runtime with pid {runtime.process.pid}"
    )
    await runtime.aclose()
    assert root.CLAIM_SECONDS < 10


async def test_a_directory_of_another_program_is_left_unchanged(state_dir: Path) -> None:
    (state_dir / "runtime").mkdir()
    (state_dir / "runtime" / "precious").touch()
    with pytest.raises(LaunchError, match="is not empty and not the root of an embedded runtime"):
        await launch(state_dir)
    assert (state_dir / "runtime" / "precious").exists()


async def test_a_directory_too_deep_for_a_socket_is_refused(state_dir: Path) -> None:
    with pytest.raises(LaunchError, match="too long for a socket in it"):
        await launch(state_dir / ("x" * 100))


async def test_a_directory_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(LaunchError, match="root /dev/null/state/runtime: Not a directory"):
        await launch(Path("/dev/null/state"))


async def test_the_runtime_runs_by_itself_until_sigterm(state_dir: Path) -> None:
    command = [sys.executable, "-m", "probelet.runtime.embedded", "--root", state_dir / "r", "--socket"]
    outside = await asyncio.create_subprocess_exec(*command, state_dir / "s", stderr=asyncio.subprocess.PIPE)
    _, line = await outside.communicate()
    assert line.decode() == (
        f"probelet embedded runtime: socket {state_dir}/s: must be a file in the root {state_dir}/r\n"
    )
    assert outside.returncode == 2
    alone = await asyncio.create_subprocess_exec(*command, state_dir / "r/s", stderr=asyncio.subprocess.PIPE)
    assert alone.stderr is not None
    assert await alone.stderr.readline() == f"probelet embedded runtime: unix://{state_dir}/r/s\n".encode()
    alone.terminate()
    assert await alone.wait() == 0
    assert entries(state_dir) == []
