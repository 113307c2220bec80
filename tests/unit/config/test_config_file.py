"""The configuration file: two documents, precedence, strictness, and one line per mistake."""

from pathlib import Path

import msgspec
import pytest
from probelet.base.logs.rotation import LogLimits
from probelet.config import Config, ConfigError, ProbeletConfiguration, load_config
from probelet.config.inert.unavailable import UNAVAILABLE_FIELDS
from probelet.config.kubelet import log_limits
from probelet.config.probe_options import allowed_options
from probelet.config.reach import EVERYWHERE, EXECS, RESTARTS, RUN, without_effect
from probelet.spec.model.probe_options import ErrorRule, FailureWindow, Hysteresis, ProbeOptions

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
PROBELET = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages repeat a path as given, so the tests give short ones."""
    monkeypatch.chdir(tmp_path)


def read(text: str | bytes, flag: str | None = None, *, strict: bool = False) -> Config:
    path = Path("c.yaml")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_config(path, feature_gates=flag, strict=strict)


def errors(text: str | bytes, flag: str | None = None, *, strict: bool = False) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(text, flag, strict=strict)
    assert str(caught.value) == "\n".join(str(problem) for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


def test_without_a_file_all_is_default() -> None:
    config = load_config(None)
    assert config.kubelet.runtime_request_timeout == 120 * 10**9
    assert config.probelet == ProbeletConfiguration()
    assert config.warnings == []


def test_an_empty_file_is_no_mistake() -> None:
    assert read("# nothing\n").warnings == []


def test_a_nodes_own_file_causes_no_warning() -> None:
    text = KUBELET + "cgroupDriver: systemd\nclusterDNS: [10.96.0.10]\nstaticPodPath: /etc/kubernetes/manifests\n"
    text += "authentication: {anonymous: {enabled: false}}\nevictionHard: {memory.available: 100Mi}\n"
    text += "featureGates: {NodeSwap: true, RotateKubeletServerCertificate: true}\nruntimeRequestTimeout: 15m0s\n"
    config = read(text)
    assert config.kubelet.runtime_request_timeout == 900 * 10**9
    assert config.warnings == []


def test_an_explicit_zero_timeout_is_the_default_as_for_the_kubelet() -> None:
    assert read(KUBELET + "runtimeRequestTimeout: 0s\n").kubelet.runtime_request_timeout == 120 * 10**9


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("", LogLimits(10 * 1024 * 1024, 5)),
        ("containerLogMaxSize: 1500k\ncontainerLogMaxFiles: 2\n", LogLimits(1_500_000, 2)),
        ('containerLogMaxSize: "-1"\n', LogLimits(None, 5)),
    ],
)
def test_the_limits_of_logs(text: str, limits: LogLimits) -> None:
    assert log_limits(read(KUBELET + text).kubelet) == limits


def test_both_documents_in_either_order() -> None:
    for text in (f"{KUBELET}---\n{PROBELET}", f"{PROBELET}schedule: kubelet\n---\n{KUBELET}", PROBELET):
        assert read(text).probelet == ProbeletConfiguration()


def test_a_flag_wins_over_the_file_gate_by_gate() -> None:
    text = KUBELET + "featureGates:\n  ProbeTerminationGracePeriod: false\n  KubeletCrashLoopBackOffMax: false\n"
    config = read(text, "KubeletCrashLoopBackOffMax=true")
    assert not config.gates["ProbeTerminationGracePeriod"]
    assert config.gates["KubeletCrashLoopBackOffMax"]


def test_a_strict_decoding_mistake_is_a_warning_and_the_rest_applies() -> None:
    text = KUBELET + "runtimeRequestTimout: 1m\nruntimeRequestTimeout: 3m\nruntimeRequestTimeout: 1m\n"
    config = read(text)
    assert config.kubelet.runtime_request_timeout == 60 * 10**9
    assert [str(problem) for problem in config.warnings] == [
        "c.yaml:3: warning: runtimeRequestTimout: unknown field, ignored; did you mean runtimeRequestTimeout?",
        "c.yaml:5: warning: runtimeRequestTimeout: duplicate field, the last one counts",
    ]


def test_strict_turns_such_warnings_into_errors() -> None:
    text = KUBELET + "runtimeRequestTimout: 1m\n"
    assert errors(text, strict=True) == [
        "c.yaml:3: runtimeRequestTimout: unknown field; did you mean runtimeRequestTimeout?"
    ]


def test_a_misspelt_opt_in_is_always_refused() -> None:
    assert errors(PROBELET + "execSingelFlight: true\n") == [
        "c.yaml:3: execSingelFlight: unknown field; did you mean execSingleFlight?"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [", "c.yaml:1: not YAML: did not find expected node content, while parsing a flow node"),
        (b"\xff", "c.yaml:1: not UTF-8: byte 0xff"),
        (
            "kind: Pod",
            'c.yaml:1: kind: Unsupported value: "Pod": must be kubelet.config.k8s.io/v1beta1 KubeletConfiguration '
            "or probelet.dev/v1alpha1 ProbeletConfiguration",
        ),
        (
            "apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration",
            'c.yaml:2: kind: Unsupported value: "kubelet.config.k8s.io/v1 KubeletConfiguration": must be '
            "kubelet.config.k8s.io/v1beta1 KubeletConfiguration or probelet.dev/v1alpha1 ProbeletConfiguration",
        ),
        (
            f"{KUBELET}---\n{KUBELET}",
            'c.yaml:4: kind: Duplicate value: "KubeletConfiguration": already at line 1',
        ),
        (
            KUBELET + "runtimeRequestTimeout: 4\n",
            'c.yaml:3: runtimeRequestTimeout: Invalid value: 4: must be a duration text such as "1m30s", not a number',
        ),
        (
            KUBELET + 'runtimeRequestTimeout: "4"\n',
            'c.yaml:3: runtimeRequestTimeout: Invalid value: "4": time: missing unit in duration "4"',
        ),
        (
            KUBELET + "runtimeRequestTimeout: -1s\n",
            'c.yaml:3: runtimeRequestTimeout: Invalid value: "-1s": must not be negative',
        ),
        (
            KUBELET + "featureGates: {NodeSwap: 1}\n",
            "c.yaml:3: featureGates[NodeSwap]: Invalid value: 1: must be true or false, not a number",
        ),
        (
            KUBELET + "featureGates:\n  Nope: true\n",
            "c.yaml:4: featureGates[Nope]: unrecognized feature gate: Nope",
        ),
        (
            KUBELET + "crashLoopBackOff:\n  maxContainerRestartPeriod: 500ms\n",
            'c.yaml:4: crashLoopBackOff.maxContainerRestartPeriod: Invalid value: "500ms": '
            "must be set between 1s and 300s",
        ),
        (
            KUBELET + "maxParallelImagePulls: 0\n",
            "c.yaml:3: maxParallelImagePulls: Invalid value: 0: must be a positive number",
        ),
        (
            KUBELET + "serializeImagePulls: true\nmaxParallelImagePulls: 2\n",
            "c.yaml:4: maxParallelImagePulls: Invalid value: 2: "
            "cannot be larger than 1 unless serializeImagePulls is set to false",
        ),
        (
            KUBELET + "containerLogMaxSize: 10MiB\n",
            'c.yaml:3: containerLogMaxSize: Invalid value: "10MiB": quantities must match the regular expression '
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            KUBELET + "containerLogMaxSize: 100m\n",
            'c.yaml:3: containerLogMaxSize: Invalid value: "100m": must be a whole number of bytes',
        ),
        (
            KUBELET + "containerLogMaxFiles: 1\n",
            "c.yaml:3: containerLogMaxFiles: Invalid value: 1: must be greater than 1",
        ),
        (
            KUBELET + "containerLogMonitorInterval: 2s\n",
            'c.yaml:3: containerLogMonitorInterval: Invalid value: "2s": must be a positive time duration greater than '
            "or equal to 3s",
        ),
        (
            KUBELET + "podLogsDir: logs/\n",
            'c.yaml:3: podLogsDir: Invalid value: "logs/": must be a clean absolute path of ASCII characters',
        ),
        (
            PROBELET + "schedule: wild\n",
            'c.yaml:3: schedule: Unsupported value: "wild": supported values: "kubelet", "spread"',
        ),
        (
            PROBELET + "execMaxInFlight: 0\n",
            "c.yaml:3: execMaxInFlight: Invalid value: 0: must be greater than or equal to 1",
        ),
        (
            PROBELET + "maxContainerAge: 0s\n",
            'c.yaml:3: maxContainerAge: Invalid value: "0s": must be greater than 0',
        ),
        (
            PROBELET + "containerBackoffMin: 0s\n",
            'c.yaml:3: containerBackoffMin: Invalid value: "0s": must be greater than 0',
        ),
        (
            PROBELET + "containerBackoffMax: 500ms\n",
            'c.yaml:3: containerBackoffMax: Invalid value: "500ms": must not be below containerBackoffMin, 1s',
        ),
        (
            PROBELET + "flightRecorder: {size: 100Ki}\n",
            'c.yaml:3: flightRecorder.size: Invalid value: "100Ki": must be a whole number of bytes from 1Mi to 16Gi',
        ),
        (
            PROBELET + "flightRecorder: {size: 17Gi}\n",
            'c.yaml:3: flightRecorder.size: Invalid value: "17Gi": must be a whole number of bytes from 1Mi to 16Gi',
        ),
        (
            PROBELET + "holdKills: sometimes\n",
            'c.yaml:3: holdKills: Unsupported value: "sometimes": supported values: "off", "prober", "shared"',
        ),
        (
            PROBELET + "holdKills: prober\nincidents: false\n",
            'c.yaml:3: holdKills: Invalid value: "prober": needs incidents: true',
        ),
        (
            PROBELET + "holdKillsFor: 0s\n",
            'c.yaml:3: holdKillsFor: Invalid value: "0s": must be greater than 0',
        ),
        (
            PROBELET + "incidentWebhook: alertmanager:9093\n",
            'c.yaml:3: incidentWebhook: Invalid value: "alertmanager:9093": must be an http or https URL',
        ),
        (
            PROBELET + "incidentWebhook: http://am:99999/\n",
            'c.yaml:3: incidentWebhook: Invalid value: "http://am:99999/": must be an http or https URL',
        ),
        (
            PROBELET + "incidentWebhook: http://u:secret@am/\n",
            'c.yaml:3: incidentWebhook: Invalid value: "": must not have a user or password',
        ),
        (
            PROBELET + "incidentWebhook: ftp://u:secret@am/\n",
            'c.yaml:3: incidentWebhook: Invalid value: "": must be an http or https URL',
        ),
        (
            PROBELET + "incidents: false\nincidentWebhook: http://u:secret@am/\n",
            'c.yaml:4: incidentWebhook: Invalid value: "": needs incidents: true',
        ),
        (
            PROBELET + "incidentWebhook: http://am/\nincidents: false\n",
            'c.yaml:3: incidentWebhook: Invalid value: "http://am/": needs incidents: true',
        ),
        (
            PROBELET + "wakeSlack: 101ms\n",
            'c.yaml:3: wakeSlack: Invalid value: "101ms": must be between 0 and 100ms, inclusive',
        ),
        (
            PROBELET + "wakeSlack: -1ns\n",
            'c.yaml:3: wakeSlack: Invalid value: "-1ns": must be between 0 and 100ms, inclusive',
        ),
        (
            PROBELET + "starvedShare: 0\n",
            "c.yaml:3: starvedShare: Invalid value: 0.0: must be greater than 0",
        ),
    ],
)
def test_one_line_for_a_mistake(text: str | bytes, expected: str) -> None:
    assert errors(text) == [expected]


def test_the_options_that_every_probe_of_a_type_has() -> None:
    text = (
        "probeOptions: true\nprobeOptionDefaults:\n  livenessProbe: {whenFailing: 500ms, failures: {of: 10, at: 4}}\n"
    )
    text += "  readinessProbe: {hysteresis: {slowerThan: 300ms}, errors: {causes: [cri]}}\n"
    assert allowed_options(read(PROBELET + text).probelet) == {
        "liveness": ProbeOptions(when_failing_milliseconds=500, failures=FailureWindow(of=10, at=4)),
        "readiness": ProbeOptions(
            hysteresis=Hysteresis(slower_than_milliseconds=300), errors=ErrorRule(failure_after=3, causes=("cri",))
        ),
    }
    text = "probeOptions: true\nprobeOptionDefaults: {startupProbe: {network: pod, networkFallback: ordinary}}\n"
    assert allowed_options(read(PROBELET + text).probelet) == {
        "startup": ProbeOptions(network="pod", network_fallback="ordinary")
    }
    assert allowed_options(read(PROBELET + "probeOptions: true\n").probelet) == {}
    assert allowed_options(read(PROBELET).probelet) is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("livenessProbe: {}", "probeOptionDefaults: Forbidden: needs probeOptions: true"),
        (
            "readinessProbe: {failures: {of: 4, at: 10}}",
            "readinessProbe.failures.at: Invalid value: 10: must not be above",
        ),
        ("startupProbe: {untilReady: 49ms}", 'startupProbe.untilReady: Invalid value: "49ms": must be a duration of'),
        ("livenessProbe: {hysteresis: {}}", "hysteresis"),
        (
            "livenessProbe: {periodMilliseconds: 10}",
            "livenessProbe.periodMilliseconds: Invalid value: 10: must be a whole",
        ),
        ("readinessProbe: {errors: {causes: [starved]}}", "readinessProbe.errors.causes"),
        ("livenessProbe: {network: node}", 'livenessProbe.network: Unsupported value: "node"'),
        (
            "livenessProbe: {networkFallback: error}",
            "livenessProbe.networkFallback: Forbidden: applies only beside network: pod",
        ),
    ],
)
def test_a_mistake_in_the_options_of_probes(text: str, error: str) -> None:
    allowed = "" if "needs" in error else "probeOptions: true\n"
    (found,) = errors(f"{PROBELET}{allowed}probeOptionDefaults: {{{text}}}\n")
    assert error in found


def test_every_mistake_is_named_at_once() -> None:
    text = KUBELET + "runtimeRequestTimeout: x\nfeatureGates: {Nope: true}\n---\n" + PROBELET + "schedule: 5\n"
    assert [line.partition(": Inv")[0] for line in errors(text, "A=b")] == [
        "c.yaml:3: runtimeRequestTimeout",
        "c.yaml:4: featureGates[Nope]: unrecognized feature gate: Nope",
        "c.yaml:8: schedule",
        '--feature-gates: invalid value of A: b, err: strconv.ParseBool: parsing "b": invalid syntax',
    ]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_config(Path("none.yaml"))


SET = {
    "containerBackoffAnnotations": "true",
    "containerBackoffMax": "10m",
    "containerBackoffMin": "2s",
    "denyHostProbes": "true",
    "eventWording": "counted",
    "execClientDeadline": "5s",
    "execMaxInFlight": "3",
    "execMode": "direct",
    "holdKills": "shared",
    "holdKillsFor": "3m",
    "incidentWebhook": "http://alertmanager:9093/api/v2/alerts",
    "incidents": "false",
    "execSingleFlight": "true",
    "extraAttemptsPerSecond": "200",
    "firstRestart": "delayed",
    "flightRecorder": "{size: 8Mi}",
    "maxContainerAge": "24h",
    "probeChanges": "true",
    "probeKillAccounting": "ownExit",
    "probeOptionDefaults": "{livenessProbe: {whenFailing: 1s}}\nprobeOptions: true",
    "probeOptions": "true",
    "reducedCurveMax": "shipped",
    "releaseOnDependency": "true",
    "restartBudget": "{burst: 3, refill: 30s}",
    "restartTimer": "kubelet",
    "restore": "full",
    "schedule": "spread",
    "startedCarriedBy": "id",
    "starvedShare": "0.25",
    "starvedVerdict": "unknown",
    "wakeSlack": "10ms",
}


def test_every_opt_in_has_an_example() -> None:
    names = {field.encode_name for field in msgspec.structs.fields(ProbeletConfiguration)}
    assert SET.keys() == names - {"apiVersion", "kind"}


@pytest.mark.parametrize("name", sorted(SET))
def test_an_opt_in_is_read_or_refused_by_name(name: str) -> None:
    text = f"{PROBELET}{name}: {SET[name]}\n"
    if name in UNAVAILABLE_FIELDS:
        assert errors(text) == [f"c.yaml:3: {name}: Forbidden: not available in this version of probelet"]
    else:
        assert read(text).probelet != ProbeletConfiguration()


def test_each_opt_in_says_whether_it_reaches_the_pods_of_callers() -> None:
    assert sorted([*EVERYWHERE, *EXECS, *RESTARTS, *RUN]) == sorted(SET)


@pytest.mark.parametrize("name", sorted(SET.keys() - UNAVAILABLE_FIELDS))
def test_an_opt_in_without_effect_in_serve_is_a_warning_there(name: str) -> None:
    config = read(f"{PROBELET}{name}: {SET[name]}\n")
    warned = {problem.field.partition(".")[0] for problem in without_effect(config, has_runtime=False)}
    assert warned == ({name} if name in RESTARTS | EXECS | RUN else set())
    assert all(name in RESTARTS | RUN for _ in without_effect(config, has_runtime=True))


def test_the_default_of_an_opt_in_may_be_written_out() -> None:
    for name, value in (("schedule", "kubelet"), ("starvedShare", "0.5"), ("execMaxInFlight", "~")):
        assert read(f"{PROBELET}{name}: {value}\n").probelet == ProbeletConfiguration()


def test_the_old_spelling_of_schedule_works_and_is_deprecated() -> None:
    config = read(PROBELET + "phase: spread\n")
    assert config.probelet.schedule == "spread"
    assert config.origins == {"schedule": "c.yaml:3"}
    assert [str(warning) for warning in config.warnings] == [
        "c.yaml:3: warning: phase: deprecated: the option is called schedule"
    ]


def test_an_option_that_contradicts_its_old_spelling_is_refused() -> None:
    assert errors(PROBELET + "phase: spread\nschedule: kubelet\n") == [
        "c.yaml:4: phase: contradicts schedule, which is the same option"
    ]
