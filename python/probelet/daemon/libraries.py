"""Imports the libraries of a process that serves, without the parts that it does not use.

A verb imports this module before any other that needs them.
"""

import probelet.base.log_library
import probelet.server.library  # noqa: F401
