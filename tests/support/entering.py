"""The engine that speaks with the helper of exec probes, where a test needs nothing else of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from probelet._rust import Engine
from probelet.runtime.execs.direct.direct_execs import DirectExecs


@asynccontextmanager
async def entering(direct: DirectExecs) -> AsyncIterator[Engine]:
    """An engine that enters containers when ``direct`` asks for it. Closes both."""
    loop, engine = asyncio.get_running_loop(), Engine(seed=1)
    loop.add_reader(engine.fileno(), lambda: direct.take(engine.drain().entered))
    direct.share(engine, alone=False)
    try:
        yield engine
    finally:
        loop.remove_reader(engine.fileno())
        await direct.close()
        engine.close()
