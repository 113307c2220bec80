"""``probelet webhook`` as a process, and the objects that make the API server call it."""

import json
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT
from tests.system.admission.api_server import ApiServer
from tests.system.admission.client import Json
from tests.system.admission.objects import ADMISSION, until

CONFIGURATION = "zz-probelet"
MANIFEST = ROOT / "deploy" / "kustomize" / "base" / "webhook" / "configuration.yaml"


class WebhookProcess:
    """One replica. It listens on ports of its own; ``log`` has its lines."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._path = folder / "webhook.log"
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "probelet", "webhook", "--log-format", "json", "--log-level", "debug"]
        command += ["--listen", "127.0.0.1:0", "--listen-health", "127.0.0.1:0", *flags]
        with self._path.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def log(self) -> list[Json]:
        lines = [line for line in self._path.read_text().splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]

    def line(self, message: str) -> Json:
        """The first line of the log with this message; waits for it."""

        def found() -> Json | None:
            assert self.process.poll() is None, self._path.read_text()
            return next((line for line in self.log if line["message"] == message), None)

        line: Json = until(found, f"{message!r} in {self._path}")
        return line

    @property
    def url(self) -> str:
        """Where it serves reviews; waits until it does."""
        return str(self.line("serving")["url"])

    def page(self, path: str) -> tuple[int, str]:
        """Status and text of a page."""
        base = str(self.line("pages")["url"]).removesuffix("/metrics")
        return fetched(base + path)

    def is_ready(self) -> bool:
        return self.page("/readyz")[0] == 200

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def unverified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def fetched(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10, context=unverified()) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def configure(api: ApiServer, url: str, *, name: str = CONFIGURATION, **client: Any) -> None:
    """A configuration as the manifests have it, but that the webhook is at a URL instead of behind a Service."""
    given = yaml.safe_load(MANIFEST.read_text())
    for webhook in given["webhooks"]:
        path = webhook["clientConfig"]["service"]["path"]
        webhook["clientConfig"] = {"url": f"{url}{path}", **client}
    api.admin.create(f"{ADMISSION}/mutatingwebhookconfigurations", {**given, "metadata": {"name": name}})


def configured(api: ApiServer, name: str = CONFIGURATION) -> Json:
    """The last webhook of the configuration as it is now."""
    found: Json = api.admin.get(f"{ADMISSION}/mutatingwebhookconfigurations/{name}")["webhooks"][-1]
    return found


def forget(api: ApiServer, name: str = CONFIGURATION) -> None:
    api.admin.delete(f"{ADMISSION}/mutatingwebhookconfigurations/{name}")
