"""One node in virtual time: the production prober, policy and back-off gate around a model of a container runtime.

``agenda`` is the clock and says what happens when. ``runtime`` models the container runtime: the sandboxes and
containers of a pod. ``workload`` describes what runs there: how long each call takes, which call fails, which container
ends by itself. ``effects`` carries out what a pod's machine asks of the runtime. ``prober`` supplies probe results: a
``Simulation`` of the production core finds them, or a test sets them. ``pod`` hands inputs to a pod's machine and
carries out its actions. ``node`` puts pods on one agenda, one prober and one restart gate.

Laws
 1. There is one clock, in nanoseconds, and it never goes back. ``play`` advances it to the earliest of the agenda's
    entries and the prober's deadlines. (The simulation counts milliseconds; it sees the nanoseconds rounded down.)
 2. Entries due at the same moment happen in the order in which they were added. The prober comes first, and again
    after the agenda has nothing more at that moment: inputs of one moment are seen together, as in the core.
 3. Nothing is random and nothing takes time unless the workload says so. Same inputs, same order, same results.
 4. Every decision is production code: ``PodMachine`` decides what to kill and to start, ``RestartGate`` when a restart
    may happen, the core when to probe and what an answer means. The model decides nothing; it carries out effects.
 5. An effect's result shows when the effect ends, not when it begins. A kill takes as long as the container needs after
    SIGTERM, and at most the grace that the machine asked for.
"""
