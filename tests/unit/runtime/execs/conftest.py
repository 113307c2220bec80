"""A scripted runtime for exec attempts."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.node.scripted_runtime import ScriptedRuntime
from tests.unit.runtime.execs.rig import Rig


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    runtime = ScriptedRuntime()
    client = await runtime.serve(tmp_path)
    rig = Rig(runtime, client)
    yield rig
    await rig.close()
    await client.aclose()
    await runtime.stop()
