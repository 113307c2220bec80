"""The practical floor: a raw epoll loop that begins probes each millisecond and sends before it registers a socket."""

from benches.engines.engine import BUILD, Engine

ENGINE = Engine("epoll", "raw epoll loop", (str(BUILD / "epoll"),), needs=BUILD / "epoll")
