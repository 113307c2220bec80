"""The raw epoll loop with a wake-up per probe: on time, and dearer."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine(
    "epoll-exact", "raw epoll loop, a wake-up each", (str(BUILD / "epoll"),), ("--exact",), needs=BUILD / "epoll"
)
