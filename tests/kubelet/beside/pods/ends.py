"""Pods about how containers end: grace, hooks, crashes, removals."""

from tests.kubelet.beside.pods.make import answers, command, container, pod


def _pre_stop(row: str) -> dict[str, object]:
    return {"preStop": command("hook", row)}


KILLED_BY_PROBES = [
    pod(
        "ignores-sigterm",
        container("--term", "-1", livenessProbe=answers("l", "200x2,500", failureThreshold=2)),
        terminationGracePeriodSeconds=4,
    ),
    pod(
        "grace-of-a-probe",
        container(
            "--term", "-1", livenessProbe=answers("l", "200x2,500", failureThreshold=2, terminationGracePeriodSeconds=2)
        ),
        terminationGracePeriodSeconds=30,
    ),
    pod(
        "prestop-exec",
        container(
            "--term",
            "500",
            "--term-code",
            "3",
            lifecycle=_pre_stop("0@1500"),
            livenessProbe=answers("l", "200x2,500", failureThreshold=1),
        ),
        terminationGracePeriodSeconds=10,
    ),
    pod(
        "prestop-fails",
        container(lifecycle=_pre_stop("4"), livenessProbe=answers("l", "200x2,500", failureThreshold=1)),
    ),
    pod(
        "prestop-too-slow",
        container(lifecycle=_pre_stop("0@20000"), livenessProbe=answers("l", "200x2,500", failureThreshold=1)),
        terminationGracePeriodSeconds=3,
    ),
]

CRASHES = [
    pod("crash", container("--exit", "1000", "--code", "1")),
    pod("crash-message", container("--exit", "1000", "--code", "2", "--message", "the last words")),
    pod(
        "crash-log-message",
        container("--exit", "1000", "--code", "2", terminationMessagePolicy="FallbackToLogsOnError"),
        restartPolicy="Never",
    ),
    pod("success-always", container("--exit", "1000")),
    pod("success-onfailure", container("--exit", "1000"), restartPolicy="OnFailure"),
    pod("failure-onfailure", container("--exit", "1000", "--code", "7"), restartPolicy="OnFailure"),
    pod("failure-never", container("--exit", "1000", "--code", "7"), restartPolicy="Never"),
    pod(
        "one-of-two-ends",
        container(readinessProbe=answers("r", "200")),
        container("--http", "8081", "--exit", "1500", name="job"),
        restartPolicy="OnFailure",
    ),
    pod(
        "restart-rules",
        container(
            "--exit",
            "1000",
            "--code",
            "42",
            restartPolicy="Never",
            restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
        ),
        container("--http", "8081", name="other"),
        restartPolicy="Never",
    ),
    pod("out-of-memory", container("--memory", "64", resources={"limits": {"memory": "24Mi"}}), restartPolicy="Never"),
    pod("active-deadline", container(), activeDeadlineSeconds=8),
]

POST_START = [
    pod("poststart-fails", container(lifecycle={"postStart": command("hook", "5@500")})),
    pod(
        "poststart-slow",
        container(lifecycle={"postStart": command("hook", "0@3000")}, readinessProbe=answers("r", "200")),
        container("--http", "8081", name="after"),
    ),
]

TO_REMOVE = [
    pod(
        "removed-hook-http",
        container(
            "--term",
            "700",
            lifecycle={
                "preStop": {
                    "httpGet": {
                        "path": "/answer/hook/200@1000",
                        "port": 8080,
                        "httpHeaders": [{"name": "X-Hook", "value": "a"}],
                    }
                }
            },
        ),
        terminationGracePeriodSeconds=8,
    ),
    pod(
        "removed-hook-sleep",
        container(lifecycle={"preStop": {"sleep": {"seconds": 3}}}),
        terminationGracePeriodSeconds=10,
    ),
    pod(
        "removed-slow",
        container(
            "--term",
            "3000",
            readinessProbe=answers("r", "200"),
            livenessProbe=answers("l", "200"),
            startupProbe=answers("s", "200"),
        ),
        terminationGracePeriodSeconds=10,
    ),
    pod(
        "removed-ignores",
        container("--term", "-1"),
        container("--http", "8081", "--term", "1000", name="two"),
        terminationGracePeriodSeconds=3,
    ),
]

PODS = [*KILLED_BY_PROBES, *CRASHES, *POST_START, *TO_REMOVE]
