"""A service that is alive all the time. From second 10 on every third answer to ``/readyz`` is 503. Until second 5 an
answer to ``/slow`` takes 400 ms."""

import itertools
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEGIN = time.monotonic()
ANSWERS = itertools.count()


class Handler(BaseHTTPRequestHandler):
    """Answers the probes."""

    def do_GET(self) -> None:
        """``/healthz`` is always well."""
        if self.path == "/slow" and time.monotonic() - BEGIN < 5:
            time.sleep(0.4)
        is_flaky = self.path == "/readyz" and time.monotonic() - BEGIN > 10
        self.send_response(503 if is_flaky and next(ANSWERS) % 3 == 0 else 200)
        self.end_headers()


ThreadingHTTPServer(("", 8081), Handler).serve_forever()
