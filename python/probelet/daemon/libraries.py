"""Imports the libraries of a process that serves, without the parts that it does not use.

A verb imports this module before any other that imports them. Only a process of our own may do so: afterwards structlog
writes no tracebacks in colours, and aiohttp's requests trust nobody.

* structlog imports rich at once, which takes longer than structlog itself. The command line's own texts go on using rich.
* aiohttp reads the certificate authorities of this machine twice, for requests that bring no TLS context of their own.
  That takes a tenth of the processor time in which ``probelet run`` starts. A service needs them for one kind of request,
  and ``server.post`` reads them for that.
"""

import ssl
import sys


def _read_nothing(_: ssl.SSLContext) -> None:
    """In the place of ``set_default_verify_paths``."""


_rich = sys.modules.setdefault("rich", None)  # type: ignore[arg-type]
ssl.SSLContext.set_default_verify_paths = _read_nothing  # type: ignore[assignment, method-assign]
try:
    import aiohttp  # noqa: F401
    import structlog  # noqa: F401
finally:
    if _rich is None:
        del sys.modules["rich"]
    # The method of the base class is there again.
    del ssl.SSLContext.set_default_verify_paths
