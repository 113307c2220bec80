"""Older spellings: keys of a configuration file, and names that feature gates had in a proposal."""

from collections.abc import Mapping

from probelet.config.crash_loop import MAX, REDUCE
from probelet.spec.read.tree import Member, Node

# The names in KEP-4603's first text, from which people copy them -> the names in releases.
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


def rename_keys(members: dict[str, Member], names: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Renames each alias in ``members`` to ``names[alias]``; returns the aliases found, and the contradicting ones.

    Call it for each file: a later file then overrides an earlier one even if the two use different spellings.
    """
    found, contradicting = [], []
    for alias, name in names.items():
        if alias not in members:
            continue
        found.append(alias)
        member = members.pop(alias)
        if members.setdefault(name, member).node.value != member.node.value:
            contradicting.append(alias)
    return found, contradicting


def rename_aliases(root: Node) -> tuple[list[str], list[str]]:
    """Renames the gates of one file; returns the aliases it had, and the ones that contradict the name."""
    gates = root.value.get("featureGates") if isinstance(root.value, dict) else None
    if gates is None or not isinstance(gates.node.value, dict):
        return [], []
    return rename_keys(gates.node.value, GATE_ALIASES)
