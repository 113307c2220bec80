"""Answers HTTP requests on listening sockets that it was given: ``python -m benches.network.server FD...``. For each
line of its standard input it prints how many it has answered."""

import selectors
import socket
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def main() -> None:
    answered = 0
    selector = selectors.EpollSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    for number in map(int, sys.argv[1:]):
        listener = socket.socket(fileno=number)
        listener.setblocking(False)
        selector.register(listener, selectors.EVENT_READ, listener)
    while True:
        for key, _ in selector.select():
            if key.data is None:
                if not sys.stdin.buffer.readline():
                    return
                print(answered, flush=True)
                continue
            connection, _ = key.data.accept()
            with connection:
                # The request of an ordinary probe is there at once, because it goes out with the connection.
                if connection.recv(4096):
                    connection.sendall(ANSWER)
                    answered += 1


if __name__ == "__main__":
    main()
