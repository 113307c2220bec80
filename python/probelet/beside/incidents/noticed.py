"""Outputs of ``cluster``: the detector of incidents gets them."""

from dataclasses import dataclass
from typing import TypeAlias

from probelet.policy.incidents import Subject, Turn


@dataclass(frozen=True, slots=True)
class Known:
    """There is a pod with these probes, of this version of its template."""

    subjects: tuple[Subject, ...]
    revision: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A pod is gone or ends, or its node says nothing any more."""

    uid: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Attempts ended."""

    turns: list[Turn]


@dataclass(frozen=True, slots=True)
class Restarting:
    """A failed probe leads to a restart of a container."""

    uid: str
    container: str


Noticed: TypeAlias = Known | Forgotten | Ended | Restarting
