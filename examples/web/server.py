"""A web service: /healthz says that it is alive, /readyz whether its database answers."""

import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STARTED = time.monotonic()
DATABASE_AWAY = range(20, 26)


class Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        age = int(time.monotonic() - STARTED)
        if self.path == "/readyz" and age in DATABASE_AWAY:
            self.answer(503, "database: connection refused")
        else:
            self.answer(200, "ok")

    def answer(self, status: int, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Logs nothing, because a line for each probe every second would be too much."""


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
address = (os.environ["POD_IP"], 8080)
print(f"serving on {address[0]}:{address[1]}", flush=True)
ThreadingHTTPServer(address, Service).serve_forever()
