"""The drop-in directory: which files count, in which order, and what a merge does."""

from pathlib import Path

import pytest
from probelet.config import Config, ConfigError, load_config

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
PROBELET = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"
REDUCE, MAX = "ReduceDefaultCrashLoopBackOffDecay", "KubeletCrashLoopBackOffMax"


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()


def put(name: str, body: str, head: str = KUBELET) -> None:
    path = Path("d") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + body)


def read(main: str | None = None, flag: str | None = None, *, strict: bool = False) -> Config:
    if main is not None:
        Path("c.yaml").write_text(KUBELET + main)
    path = None if main is None else Path("c.yaml")
    return load_config(path, config_dir=Path("d"), feature_gates=flag, strict=strict)


def errors(main: str | None = None, flag: str | None = None, *, strict: bool = False) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(main, flag, strict=strict)
    return [str(problem) for problem in caught.value.problems]


def period(value: str) -> str:
    return f"crashLoopBackOff:\n  maxContainerRestartPeriod: {value}\n"


def most(config: Config) -> float:
    return config.crash_loop.max / 10**9


def test_files_merge_in_the_order_of_their_names_as_text() -> None:
    put("9-b.conf", period("9s"))
    put("10-a.conf", period("10s"))
    assert most(read(period("5s"))) == 9
    put("99.conf", "runtimeRequestTimeout: 1m\n")
    config = read(period("5s"))
    assert (most(config), config.kubelet.runtime_request_timeout) == (9, 60 * 10**9)
    assert config.origins == {
        "crashLoopBackOff.maxContainerRestartPeriod": "d/9-b.conf:4",
        "runtimeRequestTimeout": "d/99.conf:3",
    }


def test_only_conf_files_count_and_directories_are_walked() -> None:
    for name in ("a.yaml", "b.conf.bak", "c.CONF", "d"):
        put(name, period("1s"))
    assert most(read()) == 300
    put("50/a.conf", period("4s"))
    assert most(read()) == 4
    put("49.conf", period("3s"))
    assert most(read()) == 4
    put("50.conf", period("2s"))
    # "50" sorts before "50.conf", and a directory's files come at its place.
    assert most(read()) == 2


def test_a_link_to_a_file_counts_as_in_a_mounted_config_map() -> None:
    Path("elsewhere").write_text(KUBELET + period("7s"))
    Path("d/a.conf").symlink_to(Path("elsewhere").absolute())
    assert most(read()) == 7


def test_mappings_merge_a_scalar_replaces_and_null_deletes() -> None:
    main = f"featureGates: {{{REDUCE}: true, NodeSwap: true}}\n" + period("5s")
    put("a.conf", "featureGates: {NodeSwap: false}\n")
    config = read(main)
    assert config.kubelet.feature_gates == {REDUCE: True, "NodeSwap": False}
    assert (config.crash_loop.initial, most(config)) == (10**9, 5)
    put("b.conf", f"featureGates: {{{REDUCE}: null}}\ncrashLoopBackOff: null\n")
    config = read(main)
    assert config.kubelet.feature_gates == {"NodeSwap": False}
    assert (config.crash_loop.source, most(config)) == ("default", 300)


def test_a_flag_wins_over_every_file() -> None:
    put("a.conf", f"featureGates: {{{REDUCE}: true}}\n")
    config = read(None, f"{REDUCE}=false")
    assert config.crash_loop.source == "default"
    assert config.origins[f"featureGates[{REDUCE}]"] == "--feature-gates"


def test_our_own_document_has_drop_ins_too() -> None:
    put("a.conf", "reducedCurveMax: shipped\n", PROBELET)
    put("b.conf", f"featureGates: {{{REDUCE}: true}}\n---\n{PROBELET}starvedShare: ~\n")
    assert most(read()) == 300
    put("c.conf", "reducedCurveMax: kep\n", PROBELET)
    assert most(read()) == 60


def test_a_gate_switched_off_on_top_leaves_no_default_behind() -> None:
    # By then the kubelet has written its default into the field, and it refuses to start.
    assert most(read("", f"{MAX}=false")) == 300
    put("a.conf", f"featureGates: {{{MAX}: false}}\n")
    assert most(read(f"featureGates: {{{MAX}: true}}\n")) == 300


def test_a_value_whose_gate_a_drop_in_switches_off_is_refused_at_its_line() -> None:
    put("a.conf", f"featureGates: {{{MAX}: false}}\n")
    message = "crashLoopBackOff.maxContainerRestartPeriod: Forbidden: must not be set while the feature gate"
    assert errors(period("4s"))[0].startswith(f"c.yaml:4: {message}")
    assert errors(period("4s"), f"{MAX}=false")[0].startswith(f"c.yaml:4: {message}")


def test_a_gate_switched_on_by_a_drop_in_needs_no_value_beside_it() -> None:
    # The kubelet lacks the default that it would have written, and it refuses to start.
    put("a.conf", f"featureGates: {{{MAX}: true}}\n")
    assert most(read(f"featureGates: {{{MAX}: false}}\n")) == 300


def test_an_old_spelling_below_a_new_one_is_no_contradiction() -> None:
    put("a.conf", f"featureGates: {{{MAX}: true}}\n")
    config = read("featureGates: {EnableKubeletCrashLoopBackoffMax: false}\n" + period("4s"))
    assert most(config) == 4
    assert len(config.warnings) == 1


def test_an_unknown_field_of_a_drop_in_is_ignored_with_one_warning() -> None:
    put("a.conf", "crashloopbackof: {maxSeconds: 4}\n" + period("4s"))
    config = read()
    assert most(config) == 4
    assert [str(warning) for warning in config.warnings] == [
        "d/a.conf:3: warning: crashloopbackof: unknown field, ignored; did you mean crashloopbackoff?"
    ]
    assert len(errors(strict=True)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "d/a.conf: kind: Required value: apiVersion and kind"),
        ("crashLoopBackOff: {}\n", 'd/a.conf:1: kind: Unsupported value: "": must be kubelet.config.k8s.io/v1beta1 '),
        ("kind: KubeletConfiguration\n", 'd/a.conf:1: kind: Unsupported value: "KubeletConfiguration": must be'),
        ("a: [", "d/a.conf:1: not YAML"),
        (f"{KUBELET}---\n{KUBELET}", 'd/a.conf:4: kind: Duplicate value: "KubeletConfiguration"'),
        (f"{KUBELET}crashLoopBackOff: 4\n", "d/a.conf:3: crashLoopBackOff: Invalid value: 4: must be a mapping"),
        (
            f"{KUBELET}featureGates: {{Nope: true}}\n",
            "d/a.conf:3: featureGates[Nope]: unrecognized feature gate: Nope",
        ),
    ],
)
def test_a_drop_in_that_cannot_be_used_refuses_the_start(text: str, message: str) -> None:
    put("a.conf", text, head="")
    (line,) = errors()
    assert line.startswith(message)


def test_a_value_must_be_valid_even_if_a_later_file_replaces_it() -> None:
    put("a.conf", period("5s"))
    assert errors(period("5"))[0].startswith("c.yaml:4: crashLoopBackOff.maxContainerRestartPeriod: Invalid value: 5")
    # A value that is only out of range has no effect, because the later file replaces it.
    assert most(read(period("500s"))) == 5


def test_a_directory_or_file_that_cannot_be_read() -> None:
    with pytest.raises(ConfigError, match="none: cannot be read: No such file or directory"):
        load_config(None, config_dir=Path("none"))
    Path("d/a.conf").symlink_to("nowhere")
    assert errors() == ["d/a.conf: cannot be read: No such file or directory"]
