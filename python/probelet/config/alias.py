"""Renames keys of a configuration file that have an older spelling."""

from collections.abc import Mapping

from probelet.spec.read.tree import Member


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
