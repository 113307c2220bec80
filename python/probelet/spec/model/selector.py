"""Selectors of labels (apimachinery ``LabelSelectorAsSelector``, 1.36)."""

from collections.abc import Mapping

import msgspec

from probelet.spec.model.meta import Object


class Requirement(Object, frozen=True, kw_only=True):
    """One condition on a label."""

    key: str = ""
    operator: str = ""
    """``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``."""
    values: list[str] = msgspec.field(default_factory=list)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True if the labels fulfil the condition; an unknown operator is fulfilled by none."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return False


class LabelSelector(Object, frozen=True, kw_only=True):
    """A selector; one without conditions matches everything."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: list[Requirement] = msgspec.field(default_factory=list)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True if the labels fulfil every condition."""
        return self.match_labels.items() <= labels.items() and all(
            requirement.matches(labels) for requirement in self.match_expressions
        )
