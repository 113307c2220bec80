"""The service's own score in the kernel's choice of a process to kill."""

from pathlib import Path

import pytest
from probelet.config import load_config
from probelet.config.kubelet import OOM_SCORE_ADJ
from probelet.daemon.process import apply_oom_score
from structlog.testing import capture_logs

from tests.support.paths import ROOT

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


@pytest.mark.parametrize(("text", "score"), [("", "-999"), ("oomScoreAdj: -500\n", "-500"), ("oomScoreAdj: 0\n", "0")])
def test_the_score_is_the_kubelets(tmp_path: Path, text: str, score: str) -> None:
    config, file = tmp_path / "c.yaml", tmp_path / "oom_score_adj"
    config.write_text(KUBELET + text)
    apply_oom_score(load_config(config), file)
    assert file.read_text() == score


@pytest.mark.parametrize(("text", "warnings"), [("", 0), ("oomScoreAdj: -500\n", 1)])
def test_a_score_that_cannot_be_set_is_a_warning_if_a_file_asks_for_it(
    tmp_path: Path, text: str, warnings: int
) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(KUBELET + text)
    with capture_logs() as lines:
        apply_oom_score(load_config(config), tmp_path / "nowhere" / "file")
    assert [line["event"] for line in lines] == ["cannot set oomScoreAdj"] * warnings


def test_the_unit_has_the_same_score_and_outlives_a_kill_in_its_group() -> None:
    unit = (ROOT / "deploy" / "systemd" / "probelet.service").read_text().splitlines()
    assert f"OOMScoreAdjust={OOM_SCORE_ADJ}" in unit
    assert "OOMPolicy=continue" in unit
