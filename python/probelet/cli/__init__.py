"""The command line. ``main`` is the console script; each verb has its own file."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """The console script ``probelet``.

    Ctrl-C ends it without a word while its modules are imported; a traceback of that moment says nothing to anybody.
    """
    is_own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_own:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from probelet.base.garbage import collect_seldom

    collect_seldom()
    from probelet.cli import app

    app.main(handles_interrupt=is_own)


__all__ = ["main"]
