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

One virtual node
----------------
Everything that plays pods in virtual time uses ``probelet.virtual``: ``probelet.testing``, the virtual scenes of
``stress``, and the tests of the policy and of the kubelet's end-to-end cases. The core probes a pod there, the pod's
machine kills it within its grace and starts it again, and the restart gate holds it up, as on a live node. The model
of the container runtime under them decides nothing. It carries out effects, and a *workload* says how long each
effect takes, which one fails, and when a container ends by itself. The package's docstring states the laws.

One *agenda* is the clock. ``play`` moves it to the earliest of its own entries (the end of an effect, a machine's
deadline, a container's exit) and the simulation's next deadline. Entries of one moment happen in the order in which
they were added. The simulation comes first at each moment, and once more when the agenda has nothing left to do
there, so it sees the inputs of one moment together. For that reason the first probe of a pod comes at t = 0 and not a
period later. The agenda counts nanoseconds, because back-off does; the simulation counts milliseconds and sees them
rounded down.

A ``Simulation`` finds the probe results (``SimulatedProber``), or a caller sets them (``GivenResults``): a test of a
machine chooses the result that the machine sees, and pods without probes need not pay for a simulation. ``glue`` lies
between prober and policy on the virtual node as on a live one.

Closed replay uses the agenda and not the pods. The harness of the recordings had its own stand-in for the kubelet
around the prober: it ends a container a fixed time after a result, starts it a fixed time after that, without a sync,
a grace or a back-off, and publishes statuses that no machine would find. ``replay/recorded_glue.py`` is that harness.
"""
