"""PL520: a command that only calls a server which the prober could call itself."""

from collections.abc import Iterator

from probelet.lint.change import Change, Fix, Plain, Replace, Set
from probelet.lint.command.client import GrpcCall, HttpCall, grpc_call, http_call
from probelet.lint.facts.asked import where
from probelet.lint.finding import Hit
from probelet.lint.model.workload import LintProbe
from probelet.lint.rule import Rule, on_probes


def check(probe: LintProbe) -> Iterator[Hit]:
    """Finds HTTP and gRPC clients that ask the container itself."""
    if (call := http_call(probe.argv)) is not None and where(probe.container, call.host) == "container":
        yield _hit(probe, "httpGet", _http_get(call), call)
    elif (health := grpc_call(probe.argv)) is not None and where(probe.container, health.host) == "container":
        yield _hit(probe, "grpc", _grpc(health), health)


def _hit(probe: LintProbe, handler: str, value: Plain, call: HttpCall | GrpcCall) -> Hit:
    text, left = f"replace exec by {handler} with port {call.port}", list[str]()
    if not _is_reachable(probe, call.port):
        text += "; make sure that the server listens on the pod's address, and not on 127.0.0.1 alone"
        left.append("nothing in the manifest says that the server listens on the pod's address too")
    if isinstance(call, HttpCall) and not call.fails_on_status:
        text += "; curl without --fail takes every answer for a success, httpGet only those from 200 to 399"
        left.append("curl without --fail takes every answer for a success")
    timeout = call.patience.in_probe(probe.timing.timeout)
    changes: tuple[Change, ...] = (Replace(f"{probe.path}.exec", handler, value),)
    if isinstance(timeout, str):
        left.append(timeout)
    elif timeout != probe.timing.timeout:
        text += f", and set timeoutSeconds to {timeout}, after which the client gives up"
        changes += (Set(f"{probe.path}.timeoutSeconds", timeout),)
    return probe.hit(
        "exec",
        f"every {probe.timing.period} s, {86400 // probe.timing.period:,} times a day, a process starts in the "
        f"container only to call port {call.port} of the container itself; the prober can make this call itself: "
        f"{text}",
        fix=Fix(text, changes, is_safe=not left, left="; ".join(left)),
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
listen there: another probe or a Service uses the port. `--fix` changes only such probes. Where the client gives up
before the probe does (`curl -m`, `wget -T`, and the one second that `grpc_health_probe` has by default), its limit
becomes timeoutSeconds. Where no timeoutSeconds does the same, as with half a second, the probe stays and `--fix` says
why.
""",
    source=(
        "https://kubernetes.io/blog/2022/05/13/grpc-probes-now-in-beta/",
        "https://github.com/kubernetes/kubernetes/issues/110070",
        "https://github.com/containerd/containerd/issues/9568",
    ),
    fix="Use the native handler, with the client's limit as timeoutSeconds.",
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
