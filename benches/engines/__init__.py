"""The engines, in the order of the tables."""

from benches.engines import (
    asyncio,
    blackbox,
    epoll,
    epoll_exact,
    grpc_aio,
    kubelet,
    probelet,
    probelet_slack,
    probelet_spread,
)
from benches.engines.engine import Engine

ENGINES = {
    module.ENGINE.name: module.ENGINE
    for module in (epoll, epoll_exact, grpc_aio, probelet, probelet_spread, probelet_slack, kubelet, blackbox, asyncio)
}

__all__ = ["ENGINES", "Engine"]
