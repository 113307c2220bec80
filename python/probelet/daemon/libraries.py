"""Imports the libraries of a process that serves, without the parts that it does not use.

A verb imports this module before any other that imports them. structlog imports rich at once, for tracebacks that such
a process does not write in colours, which takes longer than structlog itself. The command line's own texts go on using
rich.
"""

import sys

import probelet.server.library  # noqa: F401

_rich = sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
try:
    import structlog  # noqa: F401
finally:
    if _rich is None:
        del sys.modules["rich"]
