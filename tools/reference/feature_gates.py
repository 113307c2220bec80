"""docs/reference/feature-gates.md."""

from probelet.config.alias import GATE_ALIASES
from probelet.config.gate import DEFAULT_VERSION, GATES, SPECIAL_GATES, VERSIONS, Gate
from probelet.config.inert.gate import INERT_GATES
from probelet.config.inert.unavailable import UNAVAILABLE_GATES

from tools.reference.markdown import block, code, prose, table

HEAD = """
# Feature gates

For operators: every feature gate that has an effect in probelet, with its stage and default in each Kubernetes
release. A gate stands in `featureGates` of a [KubeletConfiguration](configuration.md#featuregates) or in
`--feature-gates`, which wins. `--kubelet-version` chooses the release; {release} is the default. A gate that the
release does not have is refused, as are a locked gate with another value and a gate that is on while one that it
depends on is off.
"""

LEGEND = """
*Since* is the first Kubernetes release with the gate, *GA* a feature that is complete, *locked* a value that cannot be
changed any more, *none* a release without the gate.
"""

EXAMPLE = [
    "apiVersion: kubelet.config.k8s.io/v1beta1",
    "kind: KubeletConfiguration",
    "featureGates: {ReduceDefaultCrashLoopBackOffDecay: true}",
]


def feature_gates_page() -> str:
    rows = [
        [code(name), _since(gate), *(_state(gate, version) for version in VERSIONS)] for name, gate in GATES.items()
    ]
    special = "; ".join(f"`{name}` sets the gates of the stage {stage}" for name, stage in SPECIAL_GATES.items())
    aliases = "; ".join(f"`{alias}` for `{name}`" for alias, name in GATE_ALIASES.items())
    lines = [
        *prose(HEAD.format(release=DEFAULT_VERSION)),
        "",
        *block("yaml", EXAMPLE),
        "",
        *prose(LEGEND),
        "",
        *table(["gate", "since", *VERSIONS], rows),
        "",
        "## Effects",
        "",
        *table(["gate", "effect when it is on"], [[code(name), _effect(gate)] for name, gate in GATES.items()]),
        "",
        "## Several gates at once, and other names",
        "",
        *prose(f"{special}; a gate with a value of its own keeps it. Old names work, with a warning: {aliases}."),
        "",
        "## Gates without effect",
        "",
        *prose(
            "probelet accepts these gates of a kubelet without effect and without a warning: "
            f"{', '.join(map(code, sorted(INERT_GATES)))}."
        ),
    ]
    return "\n".join(lines)


def _since(gate: Gate) -> str:
    since = gate.history[0].since
    return "before 1.20" if since == "1.0" else since


def _state(gate: Gate, version: str) -> str:
    spec = gate.at(version)
    if spec is None:
        return "none"
    return f"{spec.stage}, {'on' if spec.default else 'off'}{', locked' if spec.locked else ''}"


def _effect(gate: Gate) -> str:
    text = gate.summary
    if gate.depends:
        text += f" Depends on {' and '.join(map(code, gate.depends))}."
    return f"{text} Only its default is available." if gate.name in UNAVAILABLE_GATES else text
