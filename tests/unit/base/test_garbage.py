"""The garbage collector's thresholds, in a process of their own."""

import subprocess
import sys

PROGRAM = """
import gc
from probelet.base.garbage import collect_as_usual, collect_seldom
before = gc.get_threshold()
collect_seldom()
assert gc.get_threshold()[0] > 100 * before[0], gc.get_threshold()
collect_as_usual()
assert gc.get_threshold() == before, gc.get_threshold()
assert gc.get_freeze_count() > 0
"""


def test_a_process_collects_seldom_while_it_begins_and_as_python_does_from_then_on() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
