"""Pods about probes: thresholds, kinds of handlers, startup, requests."""

from tests.kubelet.beside.pods.make import answers, command, container, http_get, pod

HEADERS = [
    {"name": "Host", "value": "example.com"},
    {"name": "User-Agent", "value": "mine/1"},
    {"name": "X-A", "value": "1"},
    {"name": "X-A", "value": "2"},
    {"name": "Accept", "value": "text/plain"},
]
EMPTY_HEADERS = [{"name": "Accept", "value": ""}, {"name": "User-Agent", "value": ""}]


def _grpc(service: str, **fields: object) -> dict[str, object]:
    return {"grpc": {"port": 9090, "service": service}, **fields}


def _tcp(port: int, **fields: object) -> dict[str, object]:
    return {"tcpSocket": {"port": port}, "periodSeconds": 2, **fields}


THRESHOLDS = [
    pod(
        "readiness-turns",
        container(readinessProbe=answers("r", "200x4,500x4,200x4,500x4,200", failureThreshold=2)),
    ),
    pod(
        "readiness-twice",
        container(readinessProbe=answers("r", "500x2,200,500,200", successThreshold=2, failureThreshold=1)),
    ),
    pod("liveness-http", container(livenessProbe=answers("l", "200x4,500", failureThreshold=3))),
    pod("liveness-exec", container(livenessProbe={**command("l", "0x4,1"), "periodSeconds": 2, "failureThreshold": 2})),
    pod(
        "liveness-exec-timeout",
        container(
            livenessProbe={**command("l", "0,0@5000"), "periodSeconds": 3, "timeoutSeconds": 1, "failureThreshold": 2}
        ),
    ),
    pod(
        "liveness-never-restarts",
        container(livenessProbe=answers("l", "200x2,500", failureThreshold=2)),
        restartPolicy="Never",
    ),
    pod(
        "initial-delays",
        container(
            readinessProbe=answers("r", "200", initialDelaySeconds=5, periodSeconds=2),
            livenessProbe=answers("l", "200", initialDelaySeconds=3, periodSeconds=4),
        ),
    ),
    pod(
        "answer-too-late",
        container(
            readinessProbe=answers("r", "200x2,200@2500x3,200", periodSeconds=3, timeoutSeconds=2, failureThreshold=1)
        ),
    ),
]

STARTUP = [
    pod(
        "startup-slow",
        container(
            startupProbe=answers("s", "500x6,200", failureThreshold=30),
            livenessProbe=answers("l", "200", periodSeconds=2),
            readinessProbe=answers("r", "200", periodSeconds=3),
        ),
    ),
    pod(
        "startup-never",
        container(startupProbe=answers("s", "503", failureThreshold=4), readinessProbe=answers("r", "200")),
    ),
    pod(
        "startup-refused",
        container(
            "--delay",
            "4500",
            startupProbe=answers("s", "200", failureThreshold=30),
            readinessProbe=answers("r", "200", periodSeconds=10),
        ),
    ),
]

REQUESTS = [
    pod("tcp", container("--tcp", "9000", readinessProbe=_tcp(9000), livenessProbe=_tcp(9001, failureThreshold=4))),
    pod(
        "grpc",
        container(
            "--grpc",
            "9090",
            "--grpc-answers",
            "1x3,2x3,1",
            livenessProbe=_grpc("live", periodSeconds=2, failureThreshold=9),
            readinessProbe=_grpc("ready", periodSeconds=1, failureThreshold=2),
        ),
    ),
    pod("https", container("--https", "8443", readinessProbe=answers("r", "200", 8443, get={"scheme": "HTTPS"}))),
    pod(
        "redirects",
        container(
            readinessProbe=http_get("/redirect/same"),
            livenessProbe=http_get("/redirect/other", periodSeconds=2),
            startupProbe=answers("s", "204"),
        ),
    ),
    pod("redirects-without-end", container(readinessProbe=http_get("/redirect/loop", periodSeconds=5))),
    pod(
        "headers",
        container(
            ports=[{"name": "web", "containerPort": 8080}],
            readinessProbe=http_get("/answer/r/200?q=1", "web", get={"httpHeaders": HEADERS}),
            livenessProbe=answers("l", "200", "web", get={"httpHeaders": EMPTY_HEADERS}),
        ),
    ),
]

PODS = [*THRESHOLDS, *STARTUP, *REQUESTS]
