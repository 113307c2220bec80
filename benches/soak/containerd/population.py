"""The pods of a soak: most stay healthy, some fail their liveness probe, some end by themselves."""

from typing import Any

WELL_TIMEOUT_SECONDS = 30
"""Long, because the soak looks for restarts without a reason: a healthy pod must have time even on a busy machine."""

EXEC = {"exec": {"command": ["cat", "/tmp/alive"]}, "periodSeconds": 20, "timeoutSeconds": WELL_TIMEOUT_SECONDS}
HTTP = {"httpGet": {"port": 8080}, "periodSeconds": 1, "timeoutSeconds": WELL_TIMEOUT_SECONDS}
HANG = {**HTTP, "timeoutSeconds": 5}
SHELL = ["sh", "-c", "touch /tmp/alive; exec sleep 2147483647"]

CRASH_CODE = 3
"""The exit code of the crashing containers; nothing else in a soak exits with it."""

# Kind, share in percent, container. Kinds named "well" never fail by themselves.
KINDS: list[tuple[str, int, dict[str, Any]]] = [
    ("wellhttp", 50, {"command": ["target", ":8080"], "livenessProbe": HTTP, "readinessProbe": HTTP}),
    ("wellexec", 30, {"command": SHELL, "livenessProbe": EXEC, "readinessProbe": EXEC}),
    ("hang", 10, {"command": ["target", ":8080", "ok", "hang@30"], "livenessProbe": HANG}),
    ("crash", 10, {"command": ["target", ":8080", "ok", f"crash={CRASH_CODE}@20"], "readinessProbe": HTTP}),
]


def population(pods: int) -> dict[str, dict[str, Any]]:
    """Returns the containers by name: one per pod, which has the same name, and at least one of each kind."""
    return {
        f"{kind}-{number}": {"name": f"{kind}-{number}", **container}
        for kind, share, container in KINDS
        for number in range(max(1, pods * share // 100))
    }


def is_well(name: str) -> bool:
    return name.startswith("well")


def ends_by_itself(name: str) -> bool:
    return name.startswith("crash")
