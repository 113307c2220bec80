"""Plays a recording with other settings and compares the play with what really happened.

Laws:

- A play answers as the container really did, and *unknown* where nobody knows. Each pod is played twice, once with a
  container that is well where that is unknown, once with one that fails. What both plays agree on is known; what they
  differ in the document calls unknown. ``assume`` takes one of the two.
- Every life of a container is judged by itself, from its real start to its real end. A restart that would not have
  happened changes nothing in the next life.
- With kills that wait (``holding``) every pod is played, because an incident is one of several pods. There one life
  does change the next: a container that came in the place of one whose kill waits would not have been there.
- The play without changes must give what really happened. It is made too, and the document says whether it does.
"""

from probelet.lab.whatif.changes import SettingError, settings_of
from probelet.lab.whatif.document import SCHEMA, WhatifDocument
from probelet.lab.whatif.holding.held import Holding
from probelet.lab.whatif.manifests import changes_of_manifests
from probelet.lab.whatif.play import Window, whatif

__all__ = [
    "SCHEMA",
    "Holding",
    "SettingError",
    "WhatifDocument",
    "Window",
    "changes_of_manifests",
    "settings_of",
    "whatif",
]
