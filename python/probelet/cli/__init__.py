"""The command line. ``main`` is the console script; each verb is a file of its own."""

from probelet.cli.app import main

__all__ = ["main"]
