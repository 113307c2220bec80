"""Recognises that failures of many probes are one incident, and what they share.

Sans-IO: ``IncidentDetector.handle(now_ms, input) -> outputs``. ``run``, ``agent`` and a simulation give it their
probes, attempts, kills and rollouts, and show what it says. It imports nothing else of the policy.

``inputs`` and ``turn`` are what it takes, ``subjects`` makes them of a pod, ``outputs`` is what it puts out. ``known``
counts the pods that have each thing, ``explain`` says which thing explains a set of pods that fail, ``open`` is an
incident while it is open, ``wording`` its evidence, ``telling`` says an output in words, ``steady_clock`` the time that
passes whatever its caller's clock does.

Laws
 1. The same inputs give the same outputs. No clock, no randomness.
 2. Work for one attempt does not grow with the number of pods. Explaining grows with the pods that fail, and happens at
    most once a second.
 3. What is put out of an incident, and what is kept of it once it is settled, does not grow with its pods.
 4. A clock that jumps passes no time here, so no jump begins or ends an incident.
"""

from probelet.policy.incidents.detector import IncidentDetector
from probelet.policy.incidents.inputs import (
    Exited,
    Input,
    Killed,
    Passed,
    ProbeGone,
    ProbeKey,
    ProbeKnown,
    RolledOut,
    Subject,
)
from probelet.policy.incidents.outputs import Began, Counts, Ended, Grew, Incident, Kind, Output, Reclassified
from probelet.policy.incidents.telling import telling
from probelet.policy.incidents.turn import Turn

__all__ = [
    "Began",
    "Counts",
    "Ended",
    "Exited",
    "Grew",
    "Incident",
    "IncidentDetector",
    "Input",
    "Killed",
    "Kind",
    "Output",
    "Passed",
    "ProbeGone",
    "ProbeKey",
    "ProbeKnown",
    "Reclassified",
    "RolledOut",
    "Subject",
    "Turn",
    "telling",
]
