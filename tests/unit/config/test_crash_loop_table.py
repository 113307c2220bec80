"""Every row of the outcome table: two gates, one value, in the shipped spelling and in KEP-4603's own."""

from pathlib import Path

import pytest
from probelet.config import Config, ConfigError, load_config

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
PROBELET = "---\napiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"

SHIPPED_GATES = ("ReduceDefaultCrashLoopBackOffDecay", "KubeletCrashLoopBackOffMax")
SEED_GATES = ("ReduceDefaultCrashLoopBackoffDecay", "EnableKubeletCrashLoopBackoffMax")

PERIOD = "crashLoopBackOff.maxContainerRestartPeriod"
SECONDS = "crashloopbackoff.maxSeconds"

DEFAULT, REDUCED = (10.0, 300.0, "default"), (1.0, 60.0, "reduced")


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kubelet(body: str, gates: tuple[str, str], values: tuple[bool, bool]) -> str:
    named = "".join(f"  {gate}: {str(value).lower()}\n" for gate, value in zip(gates, values, strict=True))
    return f"{KUBELET}featureGates:\n{named}{body}"


def period(value: str) -> str:
    return f"crashLoopBackOff:\n  maxContainerRestartPeriod: {value}\n"


def seconds(value: str) -> str:
    return f"crashloopbackoff:\n  maxSeconds: {value}\n"


def read(text: str, flag: str | None = None, *, version: str = "1.36", strict: bool = False) -> Config:
    Path("c.yaml").write_text(text)
    return load_config(Path("c.yaml"), feature_gates=flag, kubelet_version=version, strict=strict)


def curve(text: str, flag: str | None = None, *, version: str = "1.36") -> tuple[float, float, str]:
    found = read(text, flag, version=version).crash_loop
    assert found.reset == 600 * 10**9
    return found.initial / 10**9, found.max / 10**9, found.source


def refusal(text: str, flag: str | None = None, *, version: str = "1.36") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(text, flag, version=version)
    return [str(problem) for problem in caught.value.problems]


# Reduce gate, Max gate, value -> initial, maximum (seconds).
HONOURED = [
    (False, True, "1s", (1, 1)),
    (False, True, "1500ms", (1.5, 1.5)),
    (False, True, "2s", (2, 2)),
    (False, True, "4s", (4, 4)),
    (False, True, "9.999s", (9.999, 9.999)),
    (False, True, "10s", (10, 10)),
    (False, True, "11s", (10, 11)),
    (False, True, "60s", (10, 60)),
    (False, True, "300s", (10, 300)),
    (False, True, "5m", (10, 300)),
    (False, True, "300000900us", (10, 300.0009)),
    (True, True, "1s", (1, 1)),
    (True, True, "2s", (1, 2)),
    (True, True, "10s", (1, 10)),
    (True, True, "61s", (1, 61)),
    (True, True, "300s", (1, 300)),
]


@pytest.mark.parametrize(("reduce", "most", "value", "expected"), HONOURED)
@pytest.mark.parametrize("gates", [SHIPPED_GATES, SEED_GATES])
def test_the_shipped_field_counts_under_either_spelling_of_the_gates(
    gates: tuple[str, str], reduce: bool, most: bool, value: str, expected: tuple[float, float]
) -> None:
    assert curve(kubelet(period(value), gates, (reduce, most))) == (*expected, "node")


@pytest.mark.parametrize(
    ("reduce", "value", "expected"),
    [
        (False, 1, (1, 1)),
        (False, 2, (2, 2)),
        (False, 4, (4, 4)),
        (False, 10, (10, 10)),
        (False, 11, (10, 11)),
        (False, 300, (10, 300)),
        (True, 2, (1, 2)),
        (True, 4, (1, 4)),
        (True, 10, (1, 10)),
        (True, 300, (1, 300)),
    ],
)
@pytest.mark.parametrize("gates", [SHIPPED_GATES, SEED_GATES])
def test_the_proposed_field_counts_once_its_gate_is_named(
    gates: tuple[str, str], reduce: bool, value: int, expected: tuple[float, float]
) -> None:
    assert curve(kubelet(seconds(str(value)), gates, (reduce, True))) == (*expected, "node")


@pytest.mark.parametrize("gates", [SHIPPED_GATES, SEED_GATES])
@pytest.mark.parametrize("body", ["", period("null"), seconds("null"), "crashLoopBackOff:\n", "crashLoopBackOff: {}\n"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((False, False), DEFAULT),
        ((True, False), REDUCED),
        ((False, True), DEFAULT),
        ((True, True), REDUCED),
    ],
)
def test_without_a_value_the_gates_alone_decide(
    gates: tuple[str, str], body: str, values: tuple[bool, bool], expected: tuple[float, float, str]
) -> None:
    assert curve(kubelet(body, gates, values)) == expected


def test_reduced_curve_max_shipped_gives_the_kubelets_default() -> None:
    shipped = f"{PROBELET}reducedCurveMax: shipped\n"
    on = KUBELET + "featureGates: {ReduceDefaultCrashLoopBackOffDecay: true}\n"
    assert curve(on) == REDUCED
    assert curve(on + shipped) == (1, 300, "reduced")
    assert curve(on + period("2s") + shipped) == (1, 2, "node")
    assert curve(KUBELET + shipped) == DEFAULT
    assert curve(on + shipped, "KubeletCrashLoopBackOffMax=false") == REDUCED


# Any value, also one that would be invalid.
ANY_PERIOD = ["1s", "10s", "300s", "0s", "999ms", "-1s", "10m"]


@pytest.mark.parametrize("value", ANY_PERIOD)
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("gates", [SHIPPED_GATES, SEED_GATES])
def test_the_shipped_field_is_refused_while_its_gate_is_off(gates: tuple[str, str], reduce: bool, value: str) -> None:
    assert refusal(kubelet(period(value), gates, (reduce, False))) == [
        f"c.yaml:7: {PERIOD}: Forbidden: must not be set while the feature gate KubeletCrashLoopBackOffMax is off"
    ]


@pytest.mark.parametrize("value", ["1", "4", "300", "0", "-1", "301"])
@pytest.mark.parametrize(("reduce", "expected"), [(False, DEFAULT), (True, REDUCED)])
@pytest.mark.parametrize("gates", [SHIPPED_GATES, SEED_GATES])
def test_the_proposed_field_is_warned_about_and_ignored_while_its_gate_is_off(
    gates: tuple[str, str], reduce: bool, expected: tuple[float, float, str], value: str
) -> None:
    text = kubelet(seconds(value), gates, (reduce, False))
    assert curve(text) == expected
    assert str(read(text).warnings[-1]) == (
        f"c.yaml:7: warning: {SECONDS}: ignored: the feature gate KubeletCrashLoopBackOffMax "
        "(EnableKubeletCrashLoopBackoffMax) is not switched on"
    )


def test_the_proposed_gates_are_off_unless_named() -> None:
    assert curve(KUBELET + seconds("4")) == DEFAULT
    assert len(read(KUBELET + seconds("4")).warnings) == 1
    assert curve(KUBELET + seconds("4"), "AllBeta=true") == DEFAULT
    assert curve(KUBELET + period("4s")) == (4, 4, "node")
    # The release in which the gate was alpha refuses what 1.35 takes.
    assert "must not be set while" in refusal(KUBELET + period("4s"), version="1.34")[0]
    assert curve(KUBELET + period("4s"), "KubeletCrashLoopBackOffMax=true", version="1.34") == (4, 4, "node")


@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("value", ["0s", "999ms", "999.9ms", "-1s", "300001ms", "301s", "10m"])
def test_an_invalid_period_is_refused(value: str, reduce: bool) -> None:
    (line,) = refusal(kubelet(period(value), SHIPPED_GATES, (reduce, True)))
    assert line.startswith(f"c.yaml:7: {PERIOD}: Invalid value: ")
    assert line.endswith(": must be set between 1s and 300s")


@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("value", [0, -1, 301])
def test_invalid_seconds_are_refused(value: int, reduce: bool) -> None:
    assert refusal(kubelet(seconds(str(value)), SEED_GATES, (reduce, True))) == [
        f"c.yaml:7: {SECONDS}: Invalid value: {value}: must be between 1 and 300, inclusive"
    ]


@pytest.mark.parametrize("values", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (period("4"), 'Invalid value: 4: must be a duration text such as "1m30s", not a number'),
        (period("1.5"), 'Invalid value: 1.5: must be a duration text such as "1m30s", not a number'),
        (period("true"), 'Invalid value: true: must be a duration text such as "1m30s", not a boolean'),
        (period('"4"'), 'Invalid value: "4": time: missing unit in duration "4"'),
        (period("abc"), 'Invalid value: "abc": time: invalid duration "abc"'),
        (period('""'), 'Invalid value: "": time: invalid duration ""'),
        (period("1 s"), 'Invalid value: "1 s": time: unknown unit " s" in duration "1 s"'),
        (seconds('"4"'), 'Invalid value: "4": must be an integer, not a string; write 4 without quotes'),
        (seconds("1.5"), "Invalid value: 1.5: must be an integer, not a fraction"),
        (seconds("4s"), 'Invalid value: "4s": must be an integer, not a string'),
        (seconds("3000000000"), "Invalid value: 3000000000: must be between -2147483648 and 2147483647, inclusive"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_for_any_gates(body: str, message: str, values: tuple[bool, bool]) -> None:
    (line,) = refusal(kubelet(body, SHIPPED_GATES, values))
    assert line.split(": ", 2)[2] == message


def test_both_fields_at_once_are_refused_with_both_paths() -> None:
    both = period("4s") + seconds("4")
    assert refusal(kubelet(both, SHIPPED_GATES, (False, True))) == [
        f"c.yaml:9: {SECONDS}: Forbidden: may not be set together with {PERIOD}"
    ]


def test_the_table_of_the_proposal() -> None:
    rows = [
        (False, False, "", DEFAULT),
        (True, False, "", REDUCED),
        (False, True, "2", (2, 2, "node")),
        (True, True, "2", (1, 2, "node")),
        (True, True, "10", (1, 10, "node")),
        (True, True, "300", (1, 300, "node")),
        (False, True, "11", (10, 11, "node")),
        (False, True, "300", (10, 300, "node")),
    ]
    for reduce, most, value, expected in rows:
        assert curve(kubelet(seconds(value) if value else "", SEED_GATES, (reduce, most))) == expected
    for reduce in (False, True):
        assert len(refusal(kubelet(seconds("301"), SEED_GATES, (reduce, True)))) == 1


def test_an_old_spelling_of_a_gate_works_and_is_deprecated() -> None:
    text = KUBELET + "featureGates:\n  ReduceDefaultCrashLoopBackoffDecay: true\n"
    assert [str(problem) for problem in read(text).warnings] == [
        "c.yaml:4: warning: featureGates[ReduceDefaultCrashLoopBackoffDecay]: deprecated feature gate "
        "ReduceDefaultCrashLoopBackoffDecay: it is called ReduceDefaultCrashLoopBackOffDecay"
    ]
    assert curve(text, "ReduceDefaultCrashLoopBackOffDecay=false") == DEFAULT
    assert curve(KUBELET, "ReduceDefaultCrashLoopBackoffDecay=true") == REDUCED
    assert refusal(KUBELET, "EnableRapidCrashLoopBackoffDecay=true") == [
        "--feature-gates: unrecognized feature gate: EnableRapidCrashLoopBackoffDecay"
    ]


def test_a_gate_that_contradicts_its_old_spelling_is_refused() -> None:
    text = KUBELET + "featureGates:\n  KubeletCrashLoopBackOffMax: true\n  EnableKubeletCrashLoopBackoffMax: false\n"
    wanted = "feature gate EnableKubeletCrashLoopBackoffMax contradicts KubeletCrashLoopBackOffMax"
    assert wanted in refusal(text)[0]
    assert wanted in refusal(KUBELET, "KubeletCrashLoopBackOffMax=true,EnableKubeletCrashLoopBackoffMax=false")[0]


def test_a_special_gate_reduces_the_curve() -> None:
    assert curve(KUBELET, "AllAlpha=true") == REDUCED
    assert "must not be set while" in refusal(KUBELET + period("4s"), "AllBeta=false")[0]


@pytest.mark.parametrize(
    "text",
    ["crashloopbackoff: {maxContainerRestartPeriod: 4s}\n", "CrashLoopBackOff: {maxContainerRestartPeriod: 4s}\n"],
)
def test_an_unknown_field_is_dropped_and_the_rest_is_honoured(text: str) -> None:
    reduced = "featureGates: {ReduceDefaultCrashLoopBackOffDecay: true}\n"
    assert curve(KUBELET + text + reduced) == REDUCED
    (warning,) = read(KUBELET + text + reduced).warnings
    assert "unknown field, ignored" in str(warning)
    with pytest.raises(ConfigError, match="unknown field"):
        read(KUBELET + text + reduced, strict=True)


def test_every_mistake_is_named_at_once() -> None:
    text = kubelet(period("0s") + seconds("0") + "runtimeRequestTimeout: -1s\n", SHIPPED_GATES, (True, True))
    assert [line.split(": ")[1] for line in refusal(text, "Nope=true")] == [
        PERIOD,
        SECONDS,
        SECONDS,
        "runtimeRequestTimeout",
        "unrecognized feature gate",
    ]
