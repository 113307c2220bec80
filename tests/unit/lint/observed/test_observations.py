"""Observations: what the files say, which workload they belong to, and from where on a rule has something to say."""

import json
from pathlib import Path
from typing import Any

import pytest
from probelet.cli.app import run_command
from probelet.lint.engine import lint
from probelet.lint.observed.container import Observation, ObservedContainer, ObservedProbe, Start
from probelet.lint.observed.match import Observations
from probelet.lint.observed.read import ObservedError, read_observed
from probelet.lint.settings import Settings

WEB = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: registry.example/web:1
      livenessProbe:
        httpGet: {path: /livez, port: 8080}
        failureThreshold: 6
        timeoutSeconds: 2
      readinessProbe:
        httpGet: {path: /readyz, port: 8080}
"""


def found(folder: Path, *containers: Observation) -> dict[str, str]:
    """The severity of each rule about observations that has a finding."""
    (folder / "web.yaml").write_text(WEB)
    report = lint([folder / "web.yaml"], Settings(observed=containers))
    return {finding.rule: finding.severity for finding in report.findings if finding.rule.startswith("PO")}


def seen(pod: str = "web", **probe: Any) -> ObservedContainer:
    return ObservedContainer("default", pod, "web", {"liveness": ObservedProbe(**probe)})


@pytest.mark.parametrize(
    ("container", "rules"),
    [
        (seen(runs=500, slow=0.99, attempts=500), {}),
        (seen(runs=500, slow=1.0, attempts=500), {"PO101": "warning"}),
        (seen(runs=500, slow=1.6, attempts=500), {"PO101": "error"}),
        (seen(runs=500, slow=1.6, attempts=1), {"PO101": "warning"}),
        (seen(runs=20, errors=2), {}),
        (seen(runs=20, errors=3), {"PO114": "warning"}),
        (seen(runs=19, errors=19), {}),
        (seen(runs=1, lateness=1.0), {}),
        (seen(runs=1, lateness=1.1), {"PO108": "info"}),
        (ObservedContainer("default", "web", "web", starts=(Start(0, 25),)), {}),
        (ObservedContainer("default", "web", "web", starts=(Start(0, 26),)), {"PO102": "warning"}),
        (ObservedContainer("default", "web", "web", starts=(Start(0, 41),)), {"PO102": "error"}),
        (ObservedContainer("default", "web", "web", age=30 * 86400), {}),
        (ObservedContainer("default", "web", "web", age=31 * 86400), {"PO103": "info"}),
        (ObservedContainer("default", "web", "web", restarts=2, is_waiting=True), {}),
        (ObservedContainer("default", "web", "web", restarts=3, is_waiting=True), {"PO107": "warning"}),
        (ObservedContainer("default", "web", "web", restarts=99), {}),
    ],
    ids=str,
)
def test_a_rule_speaks_from_its_threshold_on(
    tmp_path: Path, container: ObservedContainer, rules: dict[str, str]
) -> None:
    assert found(tmp_path, container) == rules


@pytest.mark.parametrize(
    ("causes", "rules"),
    [
        (("status", "status", ""), {"PO104": "warning"}),
        (("status", "status", "", "", ""), {}),
        (("status", "eof", ""), {}),
        (("status",), {}),
        (("status", ""), {}),
    ],
)
def test_replicas_fail_together_if_half_of_them_have_one_cause(
    tmp_path: Path, causes: tuple[str, ...], rules: dict[str, str]
) -> None:
    rows = [
        ObservedContainer(
            "default",
            f"web-{number}",
            "web",
            {"readiness": ObservedProbe(runs=9, result="Failure" if cause else "Success", cause=cause)},
        )
        for number, cause in enumerate(causes)
    ]
    assert found(tmp_path, *rows) == rules


@pytest.mark.parametrize(
    ("pod", "namespace", "is_its_own"),
    [
        ("web", "shop", True),
        ("web-5d4f9c-x2x4z", "shop", True),
        ("web-0", "shop", True),
        ("web-0", "", True),
        ("web-0", "other", False),
        ("web-api-0", "shop", False),
        ("webshop-0", "shop", False),
    ],
)
def test_a_pod_has_the_name_of_its_workload_and_more(pod: str, namespace: str, is_its_own: bool) -> None:
    observations = Observations([ObservedContainer(namespace, pod, "app")])
    assert bool(observations.of("shop", "web", "app", ["web", "web-api"])) == is_its_own
    assert observations.of("shop", "web", "proxy", ["web"]) == []


def test_a_status_document_has_runs_causes_and_lateness(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    probe = {
        "handler": "httpGet", "result": "Failure", "result_run": 3, "failure_threshold": 3, "success_threshold": 1,
        "on_hold": False, "runs": 40, "failures": 3, "errors": 1, "next_at": None,
        "last": {"at": "", "outcome": "failure", "cause": "status", "message": "", "duration_ms": 12.5,
                 "lateness_ms": 250.0, "overdue_ms": 0.0},
    }  # fmt: skip
    container = {"name": "app", "probes": {"readiness": probe}, "restart_count": 2, "backoff": None}
    document = {"schema": "probelet-status/1", "pods": [{"namespace": "n", "name": "web", "containers": [container]}]}
    path.write_text(json.dumps(document))
    (row,) = read_observed(path)
    assert row.probes == {
        "readiness": ObservedProbe(
            runs=40,
            failures=3,
            errors=1,
            result="Failure",
            cause="status",
            slow=0.0125,
            attempts=1,
            lateness=0.25,
        )
    }
    assert (row.namespace, row.pod, row.name, row.restarts, row.is_waiting) == ("n", "web", "app", 2, False)


def series(name: str, value: float, **labels: str) -> dict[str, Any]:
    metric = {"__name__": name, "namespace": "n", "pod": "web-0", "container": "app", **labels}
    return {"metric": metric, "value": [1_000_000, str(value)]}


def ready_at(value: float) -> dict[str, Any]:
    metric = {"__name__": "kube_pod_status_container_ready_time", "namespace": "n", "pod": "web-0"}
    return {"metric": metric, "value": [1_000_000, str(value)]}


def answer(*result: dict[str, Any]) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "vector", "result": [*result]}}


def test_an_answer_of_prometheus_has_counts_percentiles_and_times(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    bucket = "prober_probe_duration_seconds_bucket"
    counts = [
        series("prober_probe_total", value, probe_type="Liveness", result=result)
        for result, value in (("successful", 90), ("failed", 7), ("unknown", 3))
    ]
    buckets = [
        series(bucket, value, probe_type="Liveness", le=bound)
        for bound, value in (("0.1", 900), ("0.5", 989), ("1", 990), ("+Inf", 1000))
    ]
    times = [
        series("kube_pod_container_state_started", 900_000),
        ready_at(900_042),
        series("kube_pod_container_status_restarts_total", 4),
        series("kube_pod_container_status_waiting_reason", 1, reason="CrashLoopBackOff"),
    ]
    other = {"metric": {"__name__": "up", "job": "x"}, "value": [1, "1"]}
    path.write_text(json.dumps([answer(*counts, other), answer(*buckets, *times)]))
    (row,) = read_observed(path)
    assert row.probes == {"liveness": ObservedProbe(runs=100, failures=7, errors=3, slow=1.0, attempts=1000)}
    assert (row.age, row.starts, row.restarts, row.is_waiting) == (100_000, (Start(900_000, 42),), 4, True)


def test_the_time_of_a_pod_says_nothing_about_one_of_its_containers(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    started = series("kube_pod_container_state_started", 900_000)
    other = series("kube_pod_container_state_started", 900_000, container="proxy")
    path.write_text(json.dumps(answer(started, other, ready_at(900_042))))
    assert [row.starts for row in read_observed(path)] == [(), ()]


def test_a_percentile_beyond_the_last_bucket_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    rows = [
        series("prober_probe_duration_seconds_bucket", value, probe_type="Liveness", le=bound)
        for bound, value in (("1", 10), ("+Inf", 1000))
    ]
    path.write_text(json.dumps(answer(*rows)))
    assert read_observed(path)[0].probes["liveness"].slow is None


@pytest.mark.parametrize(
    "text",
    ["{}", "[3]", "no JSON", '{"schema": "probelet-status/1"}', '{"status": "error"}', '"x"', "null", "\udcff"],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(
        ObservedError, match=r"x\.json: no observations(: it is no JSON: | \().*; want a recording, or the JSON of "
    ) as refused:
        read_observed(path)
    assert "\n" not in str(refused.value)
    assert "DecodeError" not in str(refused.value)


def test_the_command_line_takes_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(WEB)
    metric = {"__name__": "kube_pod_container_state_started", "pod": "web", "container": "web"}
    started = answer({"metric": metric, "value": [9e6, "1"]})
    (tmp_path / "a.json").write_text(json.dumps(started))
    command = ["lint", "web.yaml", "--observed", "a.json"]
    run_command([*command, "--observed", "a.json", "-o", "json"])
    assert "PO103" in {row["rule"] for row in json.loads(capsys.readouterr().out)["findings"]}
    assert run_command([*command, "--observed", "web.yaml"]) == 2
    assert capsys.readouterr().err.startswith("probelet lint: --observed: web.yaml: no observations")
