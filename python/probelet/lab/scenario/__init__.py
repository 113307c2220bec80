"""A scenario as a file: how containers behave, what they depend on, their traffic, and what goes wrong when.

``model``, ``fault`` and ``length`` are the types of the file, ``ranges`` and ``rules`` what no type holds. ``read``
reads a file or one of the built-ins in ``builtin/``; ``schema`` is the JSON schema for editors. ``behave`` hands the
behaviour of containers to a cluster, ``begin`` the traffic and the faults; ``pattern`` finds what they name.

Laws
 1. Reading needs no manifest: every mistake that the file alone shows is found at once, with its line.
 2. A misspelt field is a mistake, because the fault that it describes would silently never happen.
 3. A scenario decides nothing. It says how things are; the cluster plays them.
"""

from probelet.lab.scenario.model import Scenario
from probelet.lab.scenario.read import (
    ScenarioError,
    ScenarioFile,
    builtin_names,
    builtin_text,
    load_scenario,
    read_scenario,
)

__all__ = [
    "Scenario",
    "ScenarioError",
    "ScenarioFile",
    "builtin_names",
    "builtin_text",
    "load_scenario",
    "read_scenario",
]
