"""Exec attempts without the runtime (``execMode: direct``): a small program of probelet's own enters the containers.

docs/dev/exec-direct.md is the design. Whatever cannot be confined exactly as the runtime confines its own exec goes
over the runtime, and so does every command that could not be started: this folder decides no verdict that the runtime
would word differently.
"""
