"""Another user of the machine, for what a service must not let such a user do."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

OTHER_UID = 65534
"""``nobody``."""

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


def as_other_user(act: Callable[[], object]) -> None:
    """Calls ``act`` in a process of the other user."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(OTHER_UID)
            os.setuid(OTHER_UID)
            act()
            code = 0
        finally:
            # A forked child must not run the exit handlers of its parent.
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the other user could not do its part"


@contextmanager
def shared_directory() -> Iterator[Path]:
    """A directory like /tmp: everybody can write, and nobody can rename what belongs to another user."""
    path = Path(tempfile.mkdtemp(prefix="probelet-test-"))
    path.chmod(0o1777)
    try:
        yield path
    finally:
        shutil.rmtree(path)
