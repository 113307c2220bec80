"""The linter: what the probes of manifests will do to the pods, and where this is not what their authors want.

Laws
 1. A rule is one file below ``rules/``: a module with the constant ``RULE``, which ``registry`` finds without a list.
    Its examples are its test: the bad manifest has the finding, the good one has not.
 2. A rule is a pure function from a workload and its neighbours to hits. It reads no file, no clock and no network. It
    knows no line: a hit has a path, and the engine finds the place in the text.
 3. Seconds come from ``probelet.lab.explain``, whose bounds the simulator proves. No rule calculates a bound of its
    own.
 4. An error is certain: a pod will be refused, killed or never ready, or the probe cannot do its work. A rule that
    guesses from names says so (``confidence``) and is at most a warning.
 5. No rule demands a probe. What nobody has asked for is no finding.
 6. A fix changes the text where it must and nowhere else. Comments and layout stay, or there is no fix; the
    engine reads the changed text again, and it has to be the old object with exactly the change.
 7. Whatever the input is, there is a line about it and no crash.

``model/`` is what a rule sees, ``facts/`` and ``command/`` what several rules ask of it; no group of rules imports
another. ``finding`` is what a rule yields, ``read/`` builds the model from texts, ``engine`` runs the rules, ``fix/``
carries out fixes. Formats of the output are the command line's.
"""
