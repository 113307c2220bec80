"""The practical floor: a raw epoll loop, a wake-up per probe."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine("epoll", "raw epoll loop", (str(BUILD / "epoll"),), needs=BUILD / "epoll")
