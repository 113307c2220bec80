"""The pytest plugin as its users have it: installed by its entry point, in a pytest of their own."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    livenessProbe: {httpGet: {port: 80}, periodSeconds: 10, failureThreshold: 1}
"""

TEST = """
def test_a_deadlock_restarts_the_container(virtual_node):
    node = virtual_node("pod.yaml")
    node.answer("web/app/liveness", "failure 0ms: deadlock", "success")
    node.run("1m")
    assert node.restarts("web/app") == {restarts}
"""

ALONE = ("-p", "no:asyncio", "-p", "no:cacheprovider")
"""The plugin of coroutines warns in a pytest without a configuration."""

LOOK = """
import sys, pytest
before = set(sys.modules)
import probelet.pytest_plugin
print(*sorted(set(sys.modules) - before))
"""


def test_a_test_that_passes_shows_no_timeline(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", pod=POD)
    pytester.makepyfile(TEST.format(restarts=1))
    result = pytester.runpytest_inprocess("-rA", *ALONE)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*virtual node*")


def test_a_typo_fails_the_test_at_its_own_line_and_nothing_else_is_shown(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", pod=POD.replace("livenessProbe", "livenesProbe"))
    pytester.makepyfile(TEST.format(restarts=1))
    result = pytester.runpytest_inprocess("--tb=long", *ALONE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            '>       node = virtual_node("pod.yaml")',
            "E       probelet.errors.ManifestError: pod.yaml:7: warning: spec.containers*did you mean livenessProbe?",
        ]
    )
    result.stdout.no_fnmatch_line("*manifests.py*")


def test_a_test_that_fails_shows_the_node_and_its_timeline(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", pod=POD)
    pytester.makepyfile(TEST.format(restarts=2))
    result = pytester.runpytest_inprocess(*ALONE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*VirtualNode at 1m0s: web ready (restarts: 1)*",
            "*- virtual node at 60 s -*",
            "     0.000 s  web/app  Unhealthy: Liveness probe failed: deadlock",
            "     0.000 s  web/app  is killed by its liveness probe",
        ]
    )


def test_a_typo_in_the_manifest_fails_the_test_with_the_right_name(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", pod=POD.replace("livenessProbe", "livenesProbe"))
    pytester.makepyfile("def test_it(virtual_node):\n    virtual_node('pod.yaml').run('1h')\n")
    result = pytester.runpytest_inprocess(*ALONE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pod.yaml:7: *unknown field, ignored; did you mean livenessProbe?"])


def test_a_pytest_that_does_not_use_the_fixture_imports_nothing_of_probelet() -> None:
    result = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["probelet", "probelet.pytest_plugin"]
