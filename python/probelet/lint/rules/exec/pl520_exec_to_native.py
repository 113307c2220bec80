"""PL520: a command that only calls a server which the prober could call itself."""

from collections.abc import Iterator

from probelet.lint.change import Fix, Plain, Replace
from probelet.lint.command.client import GrpcCall, HttpCall, grpc_call, http_call
from probelet.lint.facts.asked import where
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds HTTP and gRPC clients that ask the container itself."""
    if (call := http_call(probe.argv)) is not None and where(probe.container, call.host) == "container":
        yield _hit(probe, "httpGet", _http_get(call), call.port, fails_alike=call.fails_on_status)
    elif (health := grpc_call(probe.argv)) is not None and where(probe.container, health.host) == "container":
        yield _hit(probe, "grpc", _grpc(health), health.port, fails_alike=True)


def _hit(probe: LintProbe, handler: str, value: Plain, port: int, *, fails_alike: bool) -> Hit:
    is_reachable = _is_reachable(probe, port)
    text = f"replace exec by {handler} with port {port}"
    if not is_reachable:
        text += "; make sure that the server listens on the pod's address, and not on 127.0.0.1 alone"
    if not fails_alike:
        text += "; curl without --fail takes every answer for a success, httpGet only those from 200 to 399"
    starts = 86400 // probe.timing.period
    return probe.hit(
        "exec",
        f"every {probe.timing.period} s, {starts:,} times a day, a process starts in the container only to call port "
        f"{port} of the container itself; the prober can make this call itself: {text}",
        fix=Fix(text, (Replace(f"{probe.path}.exec", handler, value),), is_safe=is_reachable and fails_alike),
    )


def _is_reachable(probe: LintProbe, port: int) -> bool:
    """True if something outside the container is known to reach the port: another probe, or a Service."""
    container = probe.container
    if any(other.port_number == port and not other.host for other in container.probes.values()):
        return True
    names = {entry.name for entry in container.spec.ports if entry.container_port == port and entry.name}
    targets = {entry.target for service in container.workload.services for entry in service.spec.ports}
    return port in targets or bool(names & targets)


def _http_get(call: HttpCall) -> Plain:
    found: dict[str, Plain] = {"path": call.path, "port": call.port}
    if call.scheme != "HTTP":
        found["scheme"] = call.scheme
    if call.headers:
        found["httpHeaders"] = [{"name": name, "value": value} for name, value in call.headers]
    return found


def _grpc(call: GrpcCall) -> Plain:
    return {"port": call.port, "service": call.service} if call.service else {"port": call.port}


RULE = Rule(
    id="PL520",
    name="exec-to-native",
    severity="warning",
    summary="The command only calls a server in the container, which the prober can do itself.",
    why="""
An exec probe costs the node a process in the container's namespaces: 20 to 50 ms of CPU with containerd, a hundred
times an HTTP probe. Its time counts against the container's CPU limit, so that a busy container fails its probe because
curl gets no CPU. The image has to have the client, and a client that hangs outlives the timeout of some runtimes.

The prober connects to the pod's address, the command to 127.0.0.1. So the change is safe where the server is known to
listen there: another probe or a Service uses the port. `--fix` changes only such probes.
""",
    source=(
        "https://kubernetes.io/blog/2022/05/13/grpc-probes-now-in-beta/",
        "https://github.com/kubernetes/kubernetes/issues/110070",
        "https://github.com/containerd/containerd/issues/9568",
    ),
    fix="Use the handler that `good` shows. The timeout of the client is the probe's timeoutSeconds then.",
    example="""
 apiVersion: v1
 kind: Pod
 metadata: {name: web}
 spec:
   containers:
     - name: web
       image: registry.example/web:1
       livenessProbe:
-        exec:
-          command: ["sh", "-c", "curl -sf http://localhost:8080/livez || exit 1"]
+        httpGet: {path: /livez, port: 8080}
         periodSeconds: 10
       readinessProbe:
         httpGet: {path: /readyz, port: 8080}
""",
    check=on_probes(check),
)
