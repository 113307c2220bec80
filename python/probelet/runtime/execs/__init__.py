"""Exec attempts as ExecSync calls of a CRI runtime: one implementation for ``run`` and for ``serve --runtime``.

The engine decides when an exec probe is due and hands the attempt out; ``RuntimeExecs`` calls the runtime and hands
exactly one answer back for each attempt, whatever happens to the call.
"""
