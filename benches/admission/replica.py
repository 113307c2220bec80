"""``probelet webhook`` as a process, with a certificate of the bench's own."""

import json
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from probelet._rust import issue_certificate, make_authority
from probelet.base.pem import pem

START_SECONDS = 20.0


def unverified() -> ssl.SSLContext:
    """A client's context: the certificate proves nothing here, and costs the same."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Replica:
    """One replica, from its start to ``stop``. Raises RuntimeError if it does not serve."""

    def __init__(self, folder: Path, number: int) -> None:
        now = int(time.time())
        _, authority = make_authority("bench", now - 60, now + 3600)
        chain, key = issue_certificate("bench", authority, ["127.0.0.1"], now - 60, now + 3600)
        files = {"cert": pem("CERTIFICATE", chain), "key": pem("PRIVATE KEY", key)}
        flags = ["--listen", "127.0.0.1:0", "--listen-health", "127.0.0.1:0", "--log-format", "json"]
        for name, content in files.items():
            path = folder / f"{name}-{number}.pem"
            path.write_bytes(content)
            flags += [f"--{name}-file", str(path)]
        self._log = folder / f"webhook-{number}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen([sys.executable, "-m", "probelet", "webhook", *flags], stderr=log)
        self.url = self._said("serving")
        self._pages = self._said("pages").removesuffix("/metrics")

    def _said(self, message: str) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            for line in self._log.read_text().splitlines():
                said = json.loads(line)
                if said["message"] == message:
                    return str(said["url"])
            time.sleep(0.02)
        raise RuntimeError(f"no {message!r} in {self._log.read_text()}")

    def page(self, path: str) -> tuple[int, str]:
        """Status and text of a page."""
        try:
            with urllib.request.urlopen(f"{self._pages}{path}", timeout=5, context=unverified()) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def metric(self, name: str) -> float:
        """A metric without labels."""
        _, page = self.page("/metrics")
        return next(float(line.split()[1]) for line in page.splitlines() if line.startswith(f"{name} "))

    def terminate(self) -> None:
        """SIGTERM, as at the end of a pod."""
        self.process.terminate()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
