import json
from pathlib import Path

import msgspec
import pytest
from probelet.config.document import ConfigDocument
from probelet.config.schema.document import config_schema

from tests.unit.cli.conftest import Probelet

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
PROBELET = "apiVersion: probelet.dev/v1alpha1\nkind: ProbeletConfiguration\n"


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_json_has_the_curve_the_gates_and_their_origins(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 4500ms}\nnope: 1\n")
    ended = probelet("config", "show", "--config", "c.yaml", "--feature-gates", "AllAlpha=true", "-o", "json")
    found = json.loads(ended.out)
    assert (ended.code, ended.err, found["schema"]) == (0, "", "probelet-config/1")
    assert found["crashLoopBackOff"] == {
        "initial_seconds": 1,
        "max_seconds": 4.5,
        "reset_seconds": 600,
        "source": "node",
    }
    assert found["featureGates"]["ReduceDefaultCrashLoopBackOffDecay"] is True
    assert found["kubeletconfig"]["crashLoopBackOff"] == {"maxContainerRestartPeriod": "4.5s"}
    assert found["kubeletconfig"]["runtimeRequestTimeout"] == "2m0s"
    assert found["probeletconfig"]["restartTimer"] == "exact"
    assert found["origins"] == {
        "crashLoopBackOff.maxContainerRestartPeriod": "c.yaml:3",
        "featureGates[AllAlpha]": "--feature-gates",
    }
    assert found["warnings"] == ["c.yaml:4: nope: unknown field, ignored"]


def test_the_table_names_file_and_line(probelet: Probelet) -> None:
    Path("d").mkdir()
    Path("d/a.conf").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 4s}\n")
    ended = probelet("config", "show", "--config-dir", "d")
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["restart", "delay", "4s", "to", "4s", "node"] in rows
    assert ["crashLoopBackOff.maxContainerRestartPeriod", "4s", "d/a.conf:3"] in rows
    assert ["featureGates[KubeletCrashLoopBackOffMax]", "true", "default"] in rows


def test_a_refused_start_creates_no_files(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 0s}\n")
    Path("pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a}]}\n")
    ended = probelet("run", "pod.yaml", "--config", "c.yaml", "--state-dir", "state")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("probelet run: c.yaml:3: crashLoopBackOff.maxContainerRestartPeriod: Invalid value")
    assert not Path("state").exists()


def test_a_refused_configuration_is_one_line_a_mistake_and_exit_2(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 0s}\nnope: 1\n")
    ended = probelet("config", "show", "--config", "c.yaml", "--strict-config", "-o", "json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[:2] == [
        "probelet config: c.yaml:3: crashLoopBackOff.maxContainerRestartPeriod: "
        'Invalid value: "0s": must be set between 1s and 300s',
        "probelet config: c.yaml:4: nope: unknown field",
    ]


def test_all_shows_every_field_its_default_and_what_sets_it(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "oomScoreAdj: -998\nseccompDefault: true\n")
    Path("d").mkdir()
    Path("d/a.conf").write_text(KUBELET + "oomScoreAdj: -500\n---\n" + PROBELET + "restartBudget: {burst: 3}\n")
    flags = ("--config", "c.yaml", "--config-dir", "d", "--feature-gates", "AllAlpha=true")
    ended = probelet("config", "show", "--all", *flags)
    rows = {line.split()[0]: line.split()[1:] for line in ended.out.splitlines()}
    assert rows["SETTING"] == ["VALUE", "DEFAULT", "FROM"]
    assert rows["seccompDefault"] == ["true", "false", "file", "c.yaml:4"]
    assert rows["oomScoreAdj"] == ["-500", "-999", "drop-in", "d/a.conf:3"]
    assert rows["restartBudget.burst"] == ["3", "10", "drop-in", "d/a.conf:7"]
    assert rows["restartBudget.refill"] == ["1m0s", "1m0s", "default"]
    assert rows["execMaxInFlight"] == ["unset", "unset", "default"]
    assert rows["featureGates[ReduceDefaultCrashLoopBackOffDecay]"] == ["true", "false", "flag", "--feature-gates"]
    found = json.loads(probelet("config", "show", "--all", *flags, "-o", "json").out)
    assert msgspec.convert(found, ConfigDocument) == found
    assert {setting["field"] for setting in found["settings"]} == rows.keys() - {"SETTING", "restart"}


def test_a_budget_that_is_unset_is_one_setting(probelet: Probelet) -> None:
    found = json.loads(probelet("config", "show", "--all", "-o", "json").out)["settings"]
    budget = [setting for setting in found if setting["field"].startswith("restartBudget")]
    assert budget == [
        {
            "document": "ProbeletConfiguration",
            "field": "restartBudget",
            "value": None,
            "default": None,
            "source": "default",
            "origin": "",
        }
    ]


def test_the_schema_is_one_json_object_for_the_release(probelet: Probelet) -> None:
    ended = probelet("config", "schema", "--kubelet-version", "1.37")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == config_schema("1.37")


def test_without_a_word_it_shows_what_show_shows(probelet: Probelet) -> None:
    Path("c.yaml").write_text(KUBELET + "crashLoopBackOff: {maxContainerRestartPeriod: 4500ms}\n")
    shown = probelet("config", "show", "--config", "c.yaml")
    assert shown.code == 0
    assert probelet("config", "--config", "c.yaml") == shown
