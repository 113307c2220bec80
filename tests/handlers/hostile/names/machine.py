"""One engine on a machine with a hostile name server: run it in a network and a mount namespace of its own.

Takes the seconds that an attempt on a hostile name has, and the addresses of name servers that are honest. Prints, as
JSON, the result, the failures and the errors of each worker by its name.
"""

import json
import subprocess
import sys

from tests.handlers.hostile.case import handler
from tests.handlers.hostile.names.answers import RIGHT, WRONG
from tests.handlers.hostile.served_engine import Worker, served_engine
from tests.support.paths import BUILD

HEALTHY = 20
RUNS_WANTED = 4
FOR_EVER_SECONDS = 3600


def named(port: int, name: str) -> dict[str, dict[str, object]]:
    found = handler("httpGet", port)
    found["httpGet"]["host"] = f"{name}.test."
    return found


def done(workers: dict[str, Worker]) -> bool:
    healthy = [worker for worker in workers.values() if worker.pod.startswith("healthy")]
    others = [worker for worker in workers.values() if not worker.pod.startswith("healthy")]
    return min(worker.runs for worker in healthy) >= RUNS_WANTED and min(worker.runs for worker in others) >= 1


def main() -> None:
    target = [BUILD / "target", "127.0.0.1:0"]
    timeout_seconds, *honest = sys.argv[1:]
    server = [sys.executable, "-m", "tests.handlers.hostile.names", *honest]
    with (
        subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as names,
        subprocess.Popen(target, stdout=subprocess.PIPE, text=True) as web,
    ):
        assert names.stdout is not None
        assert web.stdout is not None
        assert names.stdout.readline() == "ready\n"
        port = int(web.stdout.readline().rpartition(":")[2])
        with served_engine() as engine:
            for name in WRONG | RIGHT:
                engine.add(name, named(port, f"{name}-0"), int(timeout_seconds))
            for number in range(HEALTHY):
                engine.add(f"healthy-name-{number}", named(port, f"healthy-{number}"), FOR_EVER_SECONDS)
                engine.add(f"healthy-address-{number}", handler("tcpSocket", port), FOR_EVER_SECONDS)
            workers = engine.serve_until(done)
        for process in (names, web):
            process.kill()
    found = {name: [worker.result, worker.failures, worker.errors] for name, worker in workers.items()}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
