"""Serves as name server on 127.0.0.1:53, over UDP, until standard input ends; prints a line when it is ready."""

import contextlib
import socket
import sys
import threading

from tests.handlers.hostile.names.answers import RIGHT, WRONG, labels_of, well

QUESTION_BYTES_MAX = 4096


def serve(server: socket.socket) -> None:
    known = WRONG | RIGHT
    while True:
        question, client = server.recvfrom(QUESTION_BYTES_MAX)
        for answer in known.get(labels_of(question)[0].rpartition("-")[0], well)(question):
            with contextlib.suppress(OSError):
                server.sendto(answer, client)


def main() -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    threading.Thread(target=serve, args=(server,), daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
