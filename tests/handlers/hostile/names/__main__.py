"""Serves as name servers, over UDP, until standard input ends; prints a line when they are ready.

The one on 127.0.0.1 is hostile; those on the addresses that are arguments answer every name well.
"""

import contextlib
import socket
import sys
import threading
from collections.abc import Mapping

from tests.handlers.hostile.names.answers import RIGHT, WRONG, Answer, labels_of, well

HOSTILE = "127.0.0.1"
QUESTION_BYTES_MAX = 4096


def start(address: str, known: Mapping[str, Answer]) -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    threading.Thread(target=serve, args=(server, known), daemon=True).start()


def serve(server: socket.socket, known: Mapping[str, Answer]) -> None:
    while True:
        question, client = server.recvfrom(QUESTION_BYTES_MAX)
        for answer in known.get(labels_of(question)[0].rpartition("-")[0], well)(question):
            with contextlib.suppress(OSError):
                server.sendto(answer, client)


def main() -> None:
    start(HOSTILE, WRONG | RIGHT)
    for address in sys.argv[1:]:
        start(address, {})
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
