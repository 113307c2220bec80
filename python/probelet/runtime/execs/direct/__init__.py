"""Exec attempts without the runtime (``execMode: direct``): a small program of probelet's own enters the containers.

docs/dev/exec-direct.md is the design. Whatever cannot be confined exactly as the runtime confines its own exec goes
over the runtime, and so does every command that could not be started: this folder decides no verdict that the runtime
would word differently.

The helper of exec probes is a program of its own
-------------------------------------------------
A process that joins a container must have one thread, no memory of other containers and no descriptor of the host,
and probelet's own process has many of each. A fork of Python would copy all of it, and a thread cannot enter a mount
namespace. So ``rust/enter`` is a static program that Python starts by posix_spawn, with a socket. It decides only
the usual case: what it cannot confine exactly as runc, and every command that does not start, goes to the runtime, so
that there is no second set of errors to keep equal. The specification is read strictly in Python, because an unknown
field must be a reason and not a guess; the helper gets numbers and texts. docs/dev/exec-direct.md has the steps and
why.

Only the engine speaks with the helper (``live/direct``), so that the protocol has one definition and its socket one
reader: a run goes from the engine's thread to the helper and back. Python starts the helper and replaces it. It
describes a container at its first attempt and hands the description over as bytes, so that the rules of confinement
stay in one language. The engine gives back what it cannot carry out: an attempt in another container, and one that the
helper refused, whose reason comes with it. A helper that hangs is killed by the engine, by its pidfd; its attempts are
prober errors.

An attempt that has come to Python stays Python's until its answer, over the runtime or through the helper: Python asks
the engine to enter (``enter_exec``), and a batch says what became of the command. So ``execMaxInFlight`` and
``execSingleFlight`` are Python's alone, which count attempts over the runtime too: with one of them the engine knows no
container, and every attempt comes in a batch.
"""
