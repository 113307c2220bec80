"""No Python code runs between fork and exec: in a process with threads, such as gRPC's, the child can crash there."""

import ast
from pathlib import Path

from tests.support.paths import ROOT


def forks_with_code(source: str) -> bool:
    """Whether a call in the code has a ``preexec_fn``."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return any(keyword.arg == "preexec_fn" for call in calls for keyword in call.keywords)


def sources() -> list[Path]:
    folders = ("python", "conformance", "tests", "benches", "examples", "tools", "fuzz")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(found)


def test_no_child_process_runs_python_code_before_its_program() -> None:
    assert [path for path in sources() if "preexec_fn" in path.read_text() and forks_with_code(path.read_text())] == []


def test_a_start_with_code_is_found() -> None:
    assert forks_with_code("subprocess.Popen(['x'], preexec_fn=f)")
    assert not forks_with_code("subprocess.Popen(['x'], start_new_session=True)")
