from pathlib import Path

import pytest
from probelet.spec.text.problem import Problem, Severity


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_a_line_of_a_log_leaves_the_severity_to_the_log(severity: Severity) -> None:
    problem = Problem(severity, "must be at least 1", path=Path("web.yaml"), line=12, field="spec.containers[0]")
    assert problem.line_of_log == "web.yaml:12: spec.containers[0]: must be at least 1"
    assert ("warning" in str(problem)) == (severity == "warning")
