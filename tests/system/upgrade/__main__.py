"""``python -m tests.system.upgrade PROBELET FILE`` runs the scene with another version's command, kills it and keeps
what it left."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.system.journal.surviving_runtime import Probelet
from tests.system.upgrade.scene import NODE, POD, Scene
from tests.system.upgrade.state import keep

JOURNAL_SECONDS = 0.5
"""A change is in the journal after 100 ms. Less than a period, so that no further answer comes."""


def version_of(program: str) -> str:
    return subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout.split()[1]


async def record(program: str, version: str, file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene()
        client = await scene.serve(Path(folder))
        service = Probelet(Path(folder), [POD], program=[program], node=NODE)
        await service.start()
        await scene.has_crashed_enough.wait()
        scene.fails = True
        await scene.has_failed_enough.wait()
        await asyncio.sleep(JOURNAL_SECONDS)
        await service.kill()
        kept = keep((service.state / "journal").read_bytes(), scene, time.time_ns(), version)
        await client.aclose()
        await scene.stop()
    file.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1], version_of(sys.argv[1]), Path(sys.argv[2])))
