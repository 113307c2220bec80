"""Imports the HTTP library for a process that serves, without the certificate authorities of this machine.

aiohttp reads their file twice while it is imported, for requests that bring no TLS context of their own. That takes a
tenth of the processor time in which ``probelet run`` starts. A service needs them for one kind of request, and
``server.post`` reads them for that.

It has to come before any other import of aiohttp. Only a process of our own may do so, because the requests of another
program would trust nobody afterwards.
"""

import ssl


def _read_nothing(_: ssl.SSLContext) -> None:
    """In the place of ``set_default_verify_paths``."""


ssl.SSLContext.set_default_verify_paths = _read_nothing  # type: ignore[assignment, method-assign]
try:
    import aiohttp  # noqa: F401
finally:
    # The method of the base class is there again.
    del ssl.SSLContext.set_default_verify_paths
