"""`probelet simulate --guard`: the same manifests, and enhanced liveness decides about failed liveness probes."""

from pathlib import Path

import pytest
from probelet.lab.picture.svg import svg

from tests.support.paths import ROOT
from tests.unit.cli.conftest import Probelet
from tests.unit.cli.simulate.test_simulate_verb import document, rows

GUARD = ROOT / "examples" / "guard"
SHOP, SLOW = str(GUARD / "shop.yaml"), str(GUARD / "scenarios" / "slow-liveness.yaml")
CONFIG = """apiVersion: v1
kind: ConfigMap
metadata: {name: elp-config}
data: {enabled: "false"}
"""


def test_a_bad_rollout_takes_all_pods_from_kubelets_and_few_from_the_guard(probelet: Probelet) -> None:
    found = document(probelet, SHOP, "--scenario", SLOW, "--guard", "--no-advice")
    kubelets, guarded = found["verdict"], found["against"]["verdict"]
    assert kubelets["unready_pods_max"] == 40
    # The rollout itself, with maxSurge and maxUnavailable of a quarter, is in both.
    assert guarded["unready_pods_max"] <= 10
    assert guarded["requests"]["lost"] < kubelets["requests"]["lost"] / 100
    assert guarded["kills"] < kubelets["kills"] / 4
    assert "guard" not in found
    decisions = found["against"]["guard"]["decisions"]
    assert decisions["Restarting"] == guarded["kills"]
    assert list(decisions.values()) == sorted(decisions.values(), reverse=True)
    assert "enhanced liveness" in svg(found)  # type: ignore[arg-type]


def test_the_lines_name_both_and_the_last_one_plays_it_again(probelet: Probelet, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text(CONFIG)
    flags = ["--guard", "--guard-settings", str(settings)]
    ended = probelet("simulate", SHOP, "--scenario", SLOW, "--duration", "5m", "--no-advice", *flags)
    assert (ended.code, ended.err) == (0, "")
    found = rows(ended.out)
    assert "kubelets: " in found["killed"][0]
    assert "--guard: nothing" in found["killed"][0]
    assert found["decided"][0].startswith("SwitchedOff ")
    assert f"--guard --guard-settings {settings}" in found["again"][0]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--guard", "--against", SHOP], "only one of them"),
        (["--guard-settings", SHOP], "--guard-settings needs --guard"),
        (["--guard", "--guard-settings", SHOP], "0 ConfigMaps"),
        (["--guard", "--guard-settings", "none.yaml"], "none.yaml: "),
    ],
)
def test_what_makes_no_sense_is_one_line(probelet: Probelet, flags: list[str], why: str) -> None:
    ended = probelet("simulate", SHOP, "--scenario", SLOW, *flags)
    assert ended.code != 0
    assert why in ended.err
    assert len(ended.err.splitlines()) <= 2


def test_a_mistake_of_the_settings_is_said_with_its_key(probelet: Probelet, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text(CONFIG.replace('"false"', '"flase"'))
    ended = probelet("simulate", SHOP, "--scenario", SLOW, "--guard", "--guard-settings", str(settings))
    assert ended.code != 0
    assert 'enabled: Invalid value: "flase": must be true or false' in ended.err


def test_the_table_of_all_scenarios_has_no_room_for_it(probelet: Probelet) -> None:
    assert "--guard and pictures need --scenario" in probelet("simulate", SHOP, "--guard").err
