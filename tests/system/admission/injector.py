"""Another mutating webhook, which adds a container to each pod that has none of that name."""

import base64
import json
import os
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from probelet._rust import issue_certificate, make_authority
from probelet.base.pem import pem

from tests.system.admission.client import Json


class Injector:
    """Serves on loopback between enter and exit."""

    def __init__(self, container: Json) -> None:
        now = int(time.time())
        certificate, key = make_authority("injector", now - 60, now + 3600)
        self.authority = pem("CERTIFICATE", certificate)
        chain, server_key = issue_certificate("injector", key, ["127.0.0.1"], now - 60, now + 3600)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(container))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        descriptor = os.memfd_create("injector")
        os.write(descriptor, pem("CERTIFICATE", chain) + pem("PRIVATE KEY", server_key))
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        os.close(descriptor)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}/inject"

    def __enter__(self) -> "Injector":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(container: Json) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            response: Json = {"uid": review["request"]["uid"], "allowed": True}
            present = [one["name"] for one in review["request"]["object"]["spec"]["containers"]]
            if container["name"] not in present:
                patch = [{"op": "add", "path": "/spec/containers/-", "value": container}]
                response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
            body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Writes nothing."""

    return Handler
