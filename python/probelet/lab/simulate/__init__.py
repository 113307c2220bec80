"""Plays manifests through a scenario and says what their probes will do to a service, with a verdict and advice.

``play`` is the whole of it: it returns a ``probelet-simulate/1`` document, from which the text of ``probelet simulate``
and every picture are made. ``manifests`` reads, ``playing`` plays once, ``verdict``, ``trouble`` and ``findings`` say
what happened, ``advice`` plays changes, ``rows`` fills the document.

Laws
 1. The same manifests, scenario, seed and release give the same document.
 2. Nothing is asserted that was not played: each number of a piece of advice is one of a simulation.
 3. Requests are counted from the beginning of the traffic on, when all is ready; so two versions of manifests, and each
    piece of advice, get the same requests and the same faults at the same times.
"""

from probelet.lab.simulate.simulation import Progress, play

__all__ = ["Progress", "play"]
