"""Feature gates: the Kubernetes versions that have each one, and its defaults (``pkg/features``, 1.34 to 1.38)."""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from probelet.config.inert.gate import INERT_GATES

Stage: TypeAlias = Literal["Alpha", "Beta", "GA", "Deprecated", "Removed"]

VERSIONS = ("1.34", "1.35", "1.36", "1.37", "1.38")
DEFAULT_VERSION = "1.36"

# Go's strconv.ParseBool.
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


class Spec(msgspec.Struct, frozen=True):
    """The state of a gate from one version on."""

    since: str
    default: bool
    stage: Stage
    locked: bool = False
    """True if the default cannot be changed any more."""


class Gate(msgspec.Struct, frozen=True):
    """One gate and its history, oldest first."""

    name: str
    summary: str
    history: tuple[Spec, ...]
    depends: tuple[str, ...] = ()
    """Gates that must also be on."""

    def at(self, version: str) -> Spec | None:
        """The gate's state in ``version``; ``None`` if that version does not have it."""
        current = None
        for spec in self.history:
            if _key(spec.since) <= _key(version):
                current = spec
        return None if current is None or current.stage == "Removed" else current


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


GATES: dict[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate(
            "ChangeContainerStatusOnKubeletRestart",
            "Ready and Started fall to their initial values when the prober restarts.",
            (Spec("1.0", True, "GA"), Spec("1.35", False, "Deprecated")),
        ),
        Gate(
            "ContainerRestartRules",
            "A container's own restartPolicy and restartPolicyRules decide about its restart.",
            (Spec("1.34", False, "Alpha"), Spec("1.35", True, "Beta")),
        ),
        Gate(
            "ExecProbeTimeout",
            "An exec probe that exceeds its timeout fails.",
            (Spec("1.20", True, "GA"), Spec("1.35", True, "GA", locked=True), Spec("1.38", True, "Removed")),
        ),
        Gate(
            "GRPCContainerProbeTLS",
            "grpc.mode: gRPC probes over TLS (KEP-4939).",
            (Spec("1.37", False, "Alpha"),),
        ),
        Gate(
            "H2CContainerProbe",
            "httpGet.protocol: HTTP probes over HTTP/2 without TLS (KEP-5999).",
            (Spec("1.37", False, "Alpha"),),
        ),
        Gate(
            "KubeletCrashLoopBackOffMax",
            "crashLoopBackOff.maxContainerRestartPeriod caps the restart delay of the node (KEP-5593).",
            (Spec("1.32", False, "Alpha"), Spec("1.35", True, "Beta")),
        ),
        Gate(
            "NodeDeclaredFeatures",
            "No effect here; RestartAllContainersOnContainerExits depends on it.",
            (Spec("1.35", False, "Alpha"), Spec("1.36", True, "Beta")),
        ),
        Gate(
            "PodLifecycleSleepAction",
            "Hooks may sleep (KEP-3960).",
            (Spec("1.29", False, "Alpha"), Spec("1.30", True, "Beta"), Spec("1.34", True, "GA", locked=True)),
        ),
        Gate(
            "PodLifecycleSleepActionAllowZero",
            "Hooks may sleep for zero seconds.",
            (Spec("1.32", False, "Alpha"), Spec("1.33", True, "Beta"), Spec("1.34", True, "GA", locked=True)),
        ),
        Gate(
            "ProbeTerminationGracePeriod",
            "A probe's own terminationGracePeriodSeconds (KEP-2238). Kubernetes removed the gate in 1.29; it is kept "
            "here so that a node can switch the field off.",
            (Spec("1.21", False, "Alpha"), Spec("1.25", True, "Beta"), Spec("1.28", True, "GA")),
        ),
        Gate(
            "ReduceDefaultCrashLoopBackOffDecay",
            "Restart delays start at 1 s and end at 60 s instead of 10 s and 300 s (KEP-4603).",
            (Spec("1.33", False, "Alpha"),),
        ),
        Gate(
            "RestartAllContainersOnContainerExits",
            "The restart rule RestartAllContainers (KEP-5532).",
            (Spec("1.35", False, "Alpha"), Spec("1.36", True, "Beta")),
            depends=("ContainerRestartRules", "NodeDeclaredFeatures"),
        ),
        Gate(
            "SidecarContainers",
            "Init containers with restartPolicy Always keep running (KEP-753).",
            (Spec("1.28", False, "Alpha"), Spec("1.29", True, "Beta"), Spec("1.33", True, "GA", locked=True)),
        ),
    )
}

# Each sets every gate of its stage that has no value of its own.
SPECIAL_GATES: dict[str, Stage] = {"AllAlpha": "Alpha", "AllBeta": "Beta"}


class Gates(Mapping[str, bool]):
    """The effective value of every gate in the table. A gate that the version does not have is off."""

    def __init__(self, version: str = DEFAULT_VERSION, wanted: Mapping[str, bool] | None = None) -> None:
        """The defaults of ``version``, overridden by ``wanted``; check each wanted value with ``refusal`` first."""
        self.version = version
        wanted = wanted or {}
        self._values: dict[str, bool] = {}
        for name, gate in GATES.items():
            spec = gate.at(version)
            value = spec is not None and spec.default
            for special, stage in SPECIAL_GATES.items():
                if special in wanted and spec is not None and spec.stage == stage:
                    value = wanted[special]
            self._values[name] = wanted.get(name, value)

    def __getitem__(self, name: str) -> bool:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Gates({self.version!r}, {self._values!r})"

    def default(self, name: str) -> bool:
        """The default of a gate in this version."""
        spec = GATES[name].at(self.version)
        return spec is not None and spec.default

    def broken_dependencies(self) -> list[str]:
        """One line per gate that is on while a gate it depends on is off (component-base's words)."""
        lines = []
        for name, gate in GATES.items():
            off = [other for other in gate.depends if not self[other]]
            if self[name] and off:
                lines.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]")
        return lines


def refusal(name: str, value: bool, version: str) -> str | None:
    """The reason why a gate may not have this value (component-base ``featuregate``, 1.36), or ``None``."""
    if name in SPECIAL_GATES or name in INERT_GATES:
        return None
    spec = GATES[name].at(version) if name in GATES else None
    if spec is None:
        return f"unrecognized feature gate: {name}"
    if spec.locked and value != spec.default:
        wanted, lock = str(value).lower(), str(spec.default).lower()
        return f"cannot set feature gate {name} to {wanted}, feature is locked to {lock}"
    return None


def parse_feature_gates(text: str) -> dict[str, bool]:
    """Parses ``A=true,B=false`` as the kubelet's ``--feature-gates``; the last value of a repeated name counts.

    Raises ``ValueError`` with the kubelet's message.
    """
    gates = {}
    for pair in text.split(","):
        if not pair:
            continue
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError("malformed pair, expect string=bool")
        name, value = name.strip(), value.strip()
        if value not in _BOOLS:
            quoted = msgspec.json.encode(value).decode()
            raise ValueError(
                f"invalid value of {name}: {value}, err: strconv.ParseBool: parsing {quoted}: invalid syntax"
            )
        gates[name] = _BOOLS[value]
    return gates
