"""Exits with 0 if the worker has finished a job lately, with 1 if it has not or does not answer."""

import os
import socket
import sys

limit = float(sys.argv[2])
try:
    with socket.socket(socket.AF_UNIX) as status:
        status.settimeout(1)
        status.connect(f"\0worker@{os.environ['POD_IP']}")
        age = float(status.recv(64))
except OSError as error:
    sys.exit(f"the worker does not answer: {error}")
print(f"last job {age} s ago")
sys.exit(age >= limit)
