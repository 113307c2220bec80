"""Imports structlog for a process that serves, without rich.

structlog imports rich at once, for tracebacks that such a process does not write in colours. That takes longer than
structlog itself, and a tenth of the processor time in which ``probelet run`` starts. It has to come before
any other import of structlog; the command line's own texts go on using rich.
"""

import sys

if "rich" in sys.modules:
    import structlog
else:
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
