"""The dependency: answers every request with 200; after `touch /tmp/slow` each answer takes five seconds longer."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SLOW = Path("/tmp/slow")
SECONDS = 5.0


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if SLOW.exists():
            time.sleep(SECONDS)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Writes nothing: every probe is a request."""


ThreadingHTTPServer(("127.0.0.1", 5432), Handler).serve_forever()
