"""What a Python team would write: a task per worker and aiohttp's client."""

from benches.engines.engine import PYTHON, Engine

ENGINE = Engine("asyncio", "asyncio + aiohttp", (PYTHON, "-m", "benches.peers.python"))
