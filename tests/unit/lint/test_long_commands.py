"""Commands of any length: reading them takes a time that grows with their length, and the longest ones are not read."""

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import probelet.lint
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from probelet.lint.command import shell, statements
from probelet.lint.engine import Report
from probelet.lint.model.command_bound import COMMAND_CHARS_MAX
from probelet.lint.settings import Settings

from tests.unit.lint.linted import report

TOKENS = [
    *("$(", "`", "(", ")", ";", "|", "||", "&", "&&", " ", "\n", "\t", "'", '"', "#", "\\", "\\\n", "<", ">", "{"),
    *("a", "A", "_", "-", "0", ".", "/", ":", "$A", "$(A)", "${A}", "A=b ", "PASSWORD", "://", "@", ","),
    *("true ", "exit 0", "|| exit 1", "; echo ", ";true ", "if ", "set -e", "wait", "2>&1 ", " >/dev/null", " &>"),
    *(
        "timeout 5 ",
        "timeout -k ",
        "env ",
        "exec ",
        "sh -c ",
        "pgrep -f x &",
        "pgrep x;",
        "ps|grep ",
        "curl -f ",
        "-h ",
    ),
    *("psql host=", "nc a 1;", "http://a:1/", "grpc_health_probe -addr=:1 ", "sleep 9;", "Authorization: Bearer "),
]
BEFORE_SPACES = (";echo", "|| exit 1", ";true", "exit", "set", "host=", ">", "-m")
LONG = 64 * 1024
READERS = tuple(
    f"probelet.lint.{part}"
    for part in ("command", "facts", "read", "rules.exec", "rules.liveness", "rules.target.pl419_secret_in_command")
)
SHORT, TIMES = 40, 8
EXAMPLES = settings().max_examples // 4
"""An example counts every line that four runs of the linter take, which is slow."""


def manifest(command: list[str]) -> str:
    probe = {"exec": {"command": command}}
    container = {
        "name": "app",
        "image": "registry.example/web:1",
        "livenessProbe": probe,
        "readinessProbe": probe,
        "lifecycle": {"preStop": {"exec": {"command": command}}},
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}}
    return json.dumps(pod)


def lines_run(folder: Path, command: list[str]) -> int:
    """How many lines of Python the linter runs for a pod with this command."""
    count = 0

    def trace(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    statements._kept.cache_clear()
    shell._words.cache_clear()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = report(folder, manifest(command), Settings())
    finally:
        sys.settrace(before)
    assert found.broken_rules == []
    return count


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(unit=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=4).map("".join), is_text=st.booleans())
@example(unit="$(", is_text=True)
@example(unit="pgrep -f x &", is_text=True)
def test_a_command_that_is_longer_by_a_factor_takes_that_many_steps(tmp_path: Path, unit: str, is_text: bool) -> None:
    def steps(count: int) -> int:
        return lines_run(tmp_path, ["sh", "-c", unit * count] if is_text else ["psql", *[unit] * count])

    # The first of all runs also fills caches.
    steps(0)
    none, short, long = steps(0), steps(SHORT), steps(SHORT * TIMES)
    assert long - none <= 1.5 * TIMES * max(short - none, SHORT)


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns that see whole commands or files."""
    for module in pkgutil.walk_packages(probelet.lint.__path__, "probelet.lint."):
        if not module.name.startswith(READERS):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{module.name}.{name}", value


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*each, id=each[0]) for each in patterns()])
def test_no_pattern_looks_at_a_character_again_and_again(name: str, pattern: re.Pattern[str]) -> None:
    # A pattern that begins anew at every character would take minutes for each of these texts.
    for text in [unit * (LONG // len(unit)) for unit in TOKENS] + [word + " " * LONG for word in BEFORE_SPACES]:
        for end in "\0|":
            pattern.sub("", text + end)


def test_the_longest_commands_are_not_read_which_one_line_says(tmp_path: Path) -> None:
    def found(length: int) -> Report:
        text = "exit 0;" + "a" * (length - len("sh -c exit 0;"))
        return report(tmp_path, manifest(["sh", "-c", text]), Settings())

    assert found(COMMAND_CHARS_MAX).unread_commands == []
    lines = found(COMMAND_CHARS_MAX + 1).unread_commands
    why = f"not read: {COMMAND_CHARS_MAX + 1} characters, of at most {COMMAND_CHARS_MAX}"
    assert [line.partition("Pod/default/web: ")[2] for line in lines] == [
        f"spec.containers[0].livenessProbe.exec.command: {why}",
        f"spec.containers[0].readinessProbe.exec.command: {why}",
        f"spec.containers[0].lifecycle.preStop.exec.command: {why}",
    ]


@pytest.mark.parametrize("command", [["sleep", "9" * 5000], ["grpc_health_probe", "-addr=:" + "9" * 5000]])
def test_numbers_of_any_length_break_no_rule(tmp_path: Path, command: list[str]) -> None:
    assert report(tmp_path, manifest(command), Settings()).broken_rules == []
