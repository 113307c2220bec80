"""Outputs of ``cluster``: the detector of incidents gets them."""

from typing import TypeAlias

from msgspec import Struct

from probelet.policy.incidents import Subject, Turn


class Known(Struct, frozen=True):
    """There is a pod with these probes, of this version of its template."""

    subjects: tuple[Subject, ...]
    revision: str


class Forgotten(Struct, frozen=True):
    """A pod is gone or ends, or its node says nothing any more."""

    uid: str


class Ended(Struct, frozen=True):
    """Attempts ended."""

    turns: list[Turn]


class Restarting(Struct, frozen=True):
    """A failed probe leads to a restart of a container."""

    uid: str
    container: str


Noticed: TypeAlias = Known | Forgotten | Ended | Restarting
