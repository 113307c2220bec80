"""The raw epoll loop with a wake-up per millisecond, like timers that count milliseconds: later, and cheaper."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine("epoll-tick", "raw epoll loop, 1 ms ticks", (str(BUILD / "epoll"),), ("--tick",), needs=BUILD / "epoll")
