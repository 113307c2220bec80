"""The command line. ``main`` is the console script; each verb has its own file."""

from probelet.cli.app import main

__all__ = ["main"]
