"""A service that loads for six seconds and only then opens its port. Only a TCP probe fits it."""

import os
import signal
import socketserver
import sys
import time

LOADING_SECONDS = 6


class Greeting(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"hello\n")


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("loading the model ...", flush=True)
time.sleep(LOADING_SECONDS)
socketserver.ThreadingTCPServer.allow_reuse_address = True
with socketserver.ThreadingTCPServer((os.environ["POD_IP"], 8080), Greeting) as server:
    print("loaded", flush=True)
    server.serve_forever()
