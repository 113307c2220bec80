"""Exec attempts without the runtime (``execMode: direct``): a small program of probelet's own enters the containers.

docs/dev/exec-direct.md is the design. Whatever cannot be confined exactly as the runtime confines its own exec goes
over the runtime, and so does every command that could not be started: this folder decides no verdict that the runtime
would word differently.

The helper of exec probes is a program of its own
-------------------------------------------------
A process that joins a container must have one thread, no memory of other containers and no descriptor of the host,
and probelet's own process has many of each. A fork of Python would copy all of it, and a thread cannot enter a mount
namespace. So ``rust/enter`` is a static program that Python starts by posix_spawn, with two sockets. It decides only
the usual case: what it cannot confine exactly as runc, and every command that does not start, goes to the runtime, so
that there is no second set of errors to keep equal. The specification is read strictly in Python, because an unknown
field must be a reason and not a guess; the helper gets numbers and texts. docs/dev/exec-direct.md has the steps and
why.

A run goes from the engine's thread to the helper and back (``live/direct``), on a socket of its own, because two
readers of one socket would take each other's answers. Python describes a container at its first attempt and hands the
description over as bytes, so that the rules of confinement stay in one language. The engine gives back what it cannot
carry out: an attempt in another container, and one that the helper refused, whose reason comes with it. Python starts
the helper and replaces it. A helper that hangs is found by the engine, which sees it first and kills it by its pidfd;
its attempts are prober errors. ``execMaxInFlight`` and ``execSingleFlight`` are Python's, because they count attempts
over the runtime too: with one of them the engine gets no helper, and every attempt comes in a batch as before.
"""
