"""A service with a classic mistake: two threads take the same two locks in opposite orders."""

import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

DEADLOCK_SECONDS = 8
accounts, ledger = threading.Lock(), threading.Lock()


class Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        with ledger, accounts:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing, because a line for each probe every other second would be too much."""


def close_the_books() -> None:
    time.sleep(DEADLOCK_SECONDS)
    with accounts:
        time.sleep(2.5)  # long enough for a request to arrive and take the ledger
        with ledger:
            print("never reached", flush=True)


def stop(*_: object) -> None:
    with ledger:  # a clean shutdown writes the ledger, so it hangs as well
        sys.exit(0)


signal.signal(signal.SIGTERM, stop)
threading.Thread(target=close_the_books, daemon=True).start()
print("serving", flush=True)
HTTPServer((os.environ["POD_IP"], 8080), Service).serve_forever()
