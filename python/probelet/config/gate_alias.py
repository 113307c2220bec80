"""Names that feature gates had in a proposal; people copy them from there."""

from probelet.config.alias import rename_keys
from probelet.config.crash_loop import MAX, REDUCE
from probelet.spec.read.tree import Node

# The names in KEP-4603's first text -> the names in releases.
GATE_ALIASES = {
    "EnableKubeletCrashLoopBackoffMax": MAX,
    "ReduceDefaultCrashLoopBackoffDecay": REDUCE,
}


def deprecation(alias: str) -> str:
    """The warning for a gate that a file or flag names by its alias."""
    return f"deprecated feature gate {alias}: it is called {GATE_ALIASES[alias]}"


def contradiction(alias: str) -> str:
    """The error for a gate whose alias has another value than its name."""
    return f"feature gate {alias} contradicts {GATE_ALIASES[alias]}, which is the same gate"


def rename_aliases(root: Node) -> tuple[list[str], list[str]]:
    """Renames the gates of one file; returns the aliases it had, and the ones that contradict the name."""
    gates = root.value.get("featureGates") if isinstance(root.value, dict) else None
    if gates is None or not isinstance(gates.node.value, dict):
        return [], []
    return rename_keys(gates.node.value, GATE_ALIASES)
