"""Outputs of ``cluster``: the detector of incidents gets them."""

from typing import TypeAlias

import msgspec

from probelet.policy.incidents import Subject, Turn


class Known(msgspec.Struct, frozen=True):
    """There is a pod with these probes, of this version of its template."""

    subjects: tuple[Subject, ...]
    revision: str


class Forgotten(msgspec.Struct, frozen=True):
    """A pod is gone or ends, or its node says nothing any more."""

    uid: str


class Ended(msgspec.Struct, frozen=True):
    """Attempts ended."""

    turns: list[Turn]


class Restarting(msgspec.Struct, frozen=True):
    """A failed probe leads to a restart of a container."""

    uid: str
    container: str


Noticed: TypeAlias = Known | Forgotten | Ended | Restarting
