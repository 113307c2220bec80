"""Names that feature gates had in a proposal and that people copy from it."""

from probelet.config.crash_loop import MAX, REDUCE
from probelet.spec.read.tree import Member, Node

# As KEP-4603 was first written; releases have the names on the right.
GATE_ALIASES = {
    "EnableKubeletCrashLoopBackoffMax": MAX,
    "ReduceDefaultCrashLoopBackoffDecay": REDUCE,
}


def deprecation(alias: str) -> str:
    """One line about a gate that was named by an alias."""
    return f"deprecated feature gate {alias}: it is called {GATE_ALIASES[alias]}"


def contradiction(alias: str) -> str:
    """One line about a gate that has one value under its name and another under its alias."""
    return f"feature gate {alias} contradicts {GATE_ALIASES[alias]}, which is the same gate"


def rename_aliases(root: Node) -> tuple[list[str], list[str]]:
    """Give the gates of one file their names; returns the aliases it had, and those that contradict the name.

    It happens file by file, so that a later file wins over an earlier one also when they spell the gate differently.
    """
    gates = root.value.get("featureGates") if isinstance(root.value, dict) else None
    if gates is None or not isinstance(gates.node.value, dict):
        return [], []
    values: dict[str, Member] = gates.node.value
    used, wrong = [], []
    for alias, name in GATE_ALIASES.items():
        if alias not in values:
            continue
        used.append(alias)
        member = values.pop(alias)
        if values.setdefault(name, member).node.value != member.node.value:
            wrong.append(alias)
    return used, wrong
