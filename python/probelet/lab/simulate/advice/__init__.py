"""Changes to make, and their gain: every piece of advice is played before it is given.

``change`` is one change of a manifest, or of the code behind a probe; ``ladders`` lists what may help against the
troubles of a play, mildest first; ``choose`` plays them in the same scenario with the same seed, and keeps what helps.

Laws
 1. No advice is given that was not played, and none that does not help.
 2. How many changes are played depends on the simulation's size alone, so that equal inputs give equal advice.

Advice is played before it is given
-----------------------------------
A linter that knows no load says "raise the timeout". ``probelet simulate`` lists what may help against the troubles
of a play (``lab/simulate/advice/ladders.py``: ladders of changes, the mildest rung first), plays each rung in the
same scenario with the same seed, and keeps what helps (``choose.py``). So a piece of advice has the numbers of a
simulation, and one that does harm elsewhere in the same scenario is not given. What it costs in other situations, a
later verdict about a replica that really hangs, comes from the bounds of ``explain``. How many changes are played
depends on the size of the simulation and never on the speed of the machine, because equal inputs must give equal
documents.

Traffic and faults begin when all is ready, and the same moment counts for every version of the manifests. So two
versions get the same requests, and what a slow start costs shows only where a scenario restarts something.

A scenario for manifests that nobody knows has to be relative to them: traffic is a rate for each replica, and a
start-up time may be a share of the time that the container's own probes wait for it. Otherwise the ten built-ins
would say nothing about most manifests, whose budgets lie between 20 seconds and an hour.
"""
