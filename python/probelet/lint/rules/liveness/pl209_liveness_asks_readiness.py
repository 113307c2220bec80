"""PL209: a liveness probe asks the endpoint of readiness."""

import re
from collections.abc import Iterator
from typing import Final

from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes

_READY: Final = re.compile(r"(?:^|[/_.?&=-])(?:is)?ready(?:z|ness)?(?:$|[/_.?&=-])|readiness", re.IGNORECASE)

_POSTGRES: Final = "pg_isready"
"""It asks whether the server takes connections, whatever its name says, and there is nothing better to ask."""


def check(probe: LintProbe) -> Iterator[Hit]:
    """Looks for the words of readiness."""
    kill = probe.bounds.to_kill
    for field, text in _texts(probe):
        if kill is not None and _READY.search(text):
            yield probe.hit(
                field,
                f"liveness asks {text!r}, which answers whether the pod should get requests: a container that is only "
                f"not ready, because it starts, drains or waits for something, is killed after {kill.earliest} to "
                f"{kill.latest} s",
                said_by=("PL202",),
            )
            return


def _texts(probe: LintProbe) -> Iterator[tuple[str, str]]:
    """The parts of a handler that name an endpoint."""
    spec = probe.spec
    if probe.handler == "httpGet" and spec.http_get is not None:
        yield "httpGet.path", spec.http_get.path
    elif probe.handler == "grpc" and spec.grpc is not None:
        yield "grpc.service", spec.grpc.service or ""
    elif probe.argv:
        # A name of a script or an address. A longer text has too many words to guess from.
        words = (word for word in probe.argv if len(word.split()) == 1 and word.rpartition("/")[2] != _POSTGRES)
        yield from (("exec.command", word) for word in words)


RULE = Rule(
    id="PL209",
    name="liveness-asks-readiness",
    severity="warning",
    summary="The liveness probe asks an endpoint that is made for readiness.",
    why="""
Not ready is a state of healthy servers: they load data, wait for a leader, or drain before they stop. An endpoint of
readiness says so with 503, and the answer to it is no traffic. Behind a liveness probe the same 503 becomes a kill,
which begins the loading or waiting anew. If readiness asks a database, its outage becomes a restart of every replica.

There is one argument for it: a server that can never get ready again, such as with a connection pool that is broken for
good, lives on as a zombie. One such pod served nothing for 17 hours. The better answer is an endpoint of liveness that
fails in exactly that case; if there is none, use the endpoint of readiness with a budget of many minutes.
""",
    formula="killed (F - 1) x p to F x max(p, T) + T after the container is no longer ready",
    source=(
        "Breck, Liveness: avoid checking dependencies in liveness probes",
        "https://github.com/n8n-io/n8n-hosting/pull/124",
        "https://github.com/8gears/n8n-helm-chart/issues/308",
    ),
    fix="""
Use the endpoint of liveness, mostly `/livez` or `/healthz`; Spring has `/actuator/health/liveness`.
""",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
-        httpGet: {path: /readyz, port: 8080}
+        httpGet: {path: /livez, port: 8080}
""",
    check=on_probes(check, "liveness"),
    confidence="heuristic",
)
