"""Network namespaces, which some tests need for real."""

import os
import shutil

from tests.support.required import missing


def need_namespaces(*programs: str) -> None:
    """Skips the test where no network namespace can be made, or without one of ``programs``."""
    if os.geteuid() != 0:
        missing("namespaces", "only root makes network namespaces")
    absent = [program for program in ("ip", *programs) if shutil.which(program) is None]
    if absent:
        missing("namespaces", f"no {', '.join(absent)}; on Debian: apt-get install iproute2 iptables")
