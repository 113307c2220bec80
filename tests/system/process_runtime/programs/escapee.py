"""Leaves its container as far as a process can: ``escapee.py PIDFILE [--without-environment]``.

Forks twice with setsid in between, then starts over, maybe with an empty environment, ignores SIGTERM and SIGHUP
and writes its pid. The first process sleeps on.
"""

import os
import signal
import sys
from pathlib import Path

pid_file = Path(sys.argv[1])
if "--escaped" in sys.argv:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    new = pid_file.with_suffix(".new")
    new.write_text(str(os.getpid()))
    new.rename(pid_file)
elif os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        environment = {} if "--without-environment" in sys.argv else dict(os.environ)
        os.execve(sys.executable, [sys.executable, __file__, str(pid_file), "--escaped"], environment)
    os._exit(0)
while True:
    signal.pause()
