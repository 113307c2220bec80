"""Changes to make, and their gain: every piece of advice is played before it is given.

``change`` is one change of a manifest, or of the code behind a probe; ``ladders`` lists what may help against the
troubles of a play, mildest first; ``choose`` plays them in the same scenario with the same seed, and keeps what helps.

Laws
 1. No advice is given that was not played, and none that does not help.
 2. How many changes are played depends on the simulation's size alone, so that equal inputs give equal advice.
"""
