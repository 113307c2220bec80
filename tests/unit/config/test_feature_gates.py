"""Feature gates: defaults by version, the kubelet's texts, dependencies."""

import pytest
from probelet.config import DEFAULT_VERSION, GATES, VERSIONS, ConfigError, Gates, load_config, parse_feature_gates
from probelet.config.gate import SPECIAL_GATES, refusal
from probelet.config.inert.gate import INERT_GATES
from probelet.config.inert.unavailable import UNAVAILABLE_GATES

LOCKED = "cannot set feature gate"


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("ChangeContainerStatusOnKubeletRestart", [True, False, False, False, False]),
        ("ContainerRestartRules", [False, True, True, True, True]),
        ("ExecProbeTimeout", [True, True, True, True, None]),
        ("GRPCContainerProbeTLS", [None, None, None, False, False]),
        ("H2CContainerProbe", [None, None, None, False, False]),
        ("KubeletCrashLoopBackOffMax", [False, True, True, True, True]),
        ("ProbeTerminationGracePeriod", [True, True, True, True, True]),
        ("ReduceDefaultCrashLoopBackOffDecay", [False, False, False, False, False]),
        ("RestartAllContainersOnContainerExits", [None, False, True, True, True]),
        ("SidecarContainers", [True, True, True, True, True]),
    ],
)
def test_defaults_by_version(name: str, defaults: list[bool | None]) -> None:
    found = [GATES[name].at(version) for version in VERSIONS]
    assert [None if spec is None else spec.default for spec in found] == defaults
    assert [Gates(version)[name] for version in VERSIONS] == [bool(default) for default in defaults]


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        (",A=true,,B=false,", {"A": True, "B": False}),
        (" A = 1 , B=F", {"A": True, "B": False}),
        ("A=true,A=false", {"A": False}),
    ],
)
def test_the_flag_parses_as_the_kubelets(text: str, gates: dict[str, bool]) -> None:
    assert parse_feature_gates(text) == gates


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A", "malformed pair, expect string=bool"),
        ("A=true,B", "malformed pair, expect string=bool"),
        ("A=yes", 'invalid value of A: yes, err: strconv.ParseBool: parsing "yes": invalid syntax'),
        ("A=", 'invalid value of A: , err: strconv.ParseBool: parsing "": invalid syntax'),
        (
            "A=true=false",
            'invalid value of A: true=false, err: strconv.ParseBool: parsing "true=false": invalid syntax',
        ),
    ],
)
def test_a_bad_flag_has_the_kubelets_words(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"invalid value|malformed") as caught:
        parse_feature_gates(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "value", "version", "message"),
    [
        ("Nope", True, "1.36", "unrecognized feature gate: Nope"),
        ("H2CContainerProbe", False, "1.36", "unrecognized feature gate: H2CContainerProbe"),
        ("H2CContainerProbe", True, "1.37", None),
        ("ExecProbeTimeout", False, "1.34", None),
        ("ExecProbeTimeout", True, "1.36", None),
        (
            "ExecProbeTimeout",
            False,
            "1.36",
            "cannot set feature gate ExecProbeTimeout to false, feature is locked to true",
        ),
        ("ExecProbeTimeout", True, "1.38", "unrecognized feature gate: ExecProbeTimeout"),
        ("NodeSwap", True, "1.36", None),
        ("AllAlpha", True, "1.36", None),
    ],
)
def test_allowed_values_by_version(name: str, value: bool, version: str, message: str | None) -> None:
    assert refusal(name, value, version) == message


def test_all_alpha_and_all_beta_set_the_gates_without_a_value() -> None:
    alpha = Gates("1.36", {"AllAlpha": True})
    assert alpha["ReduceDefaultCrashLoopBackOffDecay"]
    assert not Gates("1.36", {"AllAlpha": True, "ReduceDefaultCrashLoopBackOffDecay": False})[
        "ReduceDefaultCrashLoopBackOffDecay"
    ]
    beta = Gates("1.36", {"AllBeta": False, "ContainerRestartRules": True})
    assert beta["ContainerRestartRules"]
    assert not beta["KubeletCrashLoopBackOffMax"]
    assert beta["SidecarContainers"]


def errors(flag: str, version: str = DEFAULT_VERSION) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(None, feature_gates=flag, kubelet_version=version)
    return [str(problem) for problem in caught.value.problems]


def test_a_gate_needs_the_gates_it_depends_on() -> None:
    assert errors("NodeDeclaredFeatures=false") == [
        "featureGates: RestartAllContainersOnContainerExits is enabled, but depends on features that are disabled: "
        "[NodeDeclaredFeatures]"
    ]


def test_every_bad_gate_of_the_flag_is_named() -> None:
    assert errors("Nope=true,SidecarContainers=false,NodeSwap=true,Other=false") == [
        "--feature-gates: unrecognized feature gate: Nope",
        "--feature-gates: cannot set feature gate SidecarContainers to false, feature is locked to true",
        "--feature-gates: unrecognized feature gate: Other",
    ]


@pytest.mark.parametrize("name", sorted(UNAVAILABLE_GATES))
def test_a_gate_without_its_feature_stays_at_its_default(name: str) -> None:
    version = next(version for version in reversed(VERSIONS) if GATES[name].at(version) is not None)
    default = Gates(version)[name]
    load_config(None, feature_gates=f"{name}={default}", kubelet_version=version)
    [first, *_] = errors(f"{name}={not default}", version)
    assert first.startswith(f"--feature-gates: cannot set feature gate {name} to {str(not default).lower()}")


def test_no_gate_is_in_two_tables() -> None:
    assert not INERT_GATES & (GATES.keys() | SPECIAL_GATES.keys())
    assert GATES.keys() >= UNAVAILABLE_GATES


def test_alpha_handlers_are_switched_on_one_by_one() -> None:
    config = load_config(None, feature_gates="H2CContainerProbe=true", kubelet_version="1.37")
    assert config.gates["H2CContainerProbe"]
    assert not config.gates["GRPCContainerProbeTLS"]


def test_gates_that_can_be_set() -> None:
    config = load_config(None, feature_gates="ProbeTerminationGracePeriod=false,KubeletCrashLoopBackOffMax=false")
    assert not config.gates["ProbeTerminationGracePeriod"]
    assert not config.gates["KubeletCrashLoopBackOffMax"]
    assert config.gates["ContainerRestartRules"]
    rules = load_config(None, feature_gates="RestartAllContainersOnContainerExits=false,ContainerRestartRules=false")
    assert not rules.gates["ContainerRestartRules"]
