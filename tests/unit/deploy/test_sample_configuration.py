"""``deploy/config.yaml``, the sample that ``make install`` installs: every field is there, and none has a mistake."""

import re
from pathlib import Path

import msgspec
import pytest
from probelet.config import Config, load_config
from probelet.config.inert.unavailable import UNAVAILABLE_FIELDS
from probelet.config.kubelet import KubeletConfiguration
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.written import written

from tests.support.paths import ROOT

SAMPLE = (ROOT / "deploy" / "config.yaml").read_text()
LINES = re.findall(r"^#(\w+:.*)$", SAMPLE, re.MULTILINE)
"""The fields, each commented out in one line."""

# The sample shows values, because these fields have no limit, or are off, by default.
UNSET = {
    "clusterDomain",
    "execClientDeadline",
    "execMaxInFlight",
    "flightRecorder",
    "incidentWebhook",
    "maxContainerAge",
    "maxParallelImagePulls",
    "restartBudget",
}
# A second spelling, which may not stand beside the first one.
OTHER_SPELLING = {"crashloopbackoff"}


def load(text: str, folder: Path) -> Config:
    path = folder / "config.yaml"
    path.write_text(text)
    return load_config(path)


def with_fields(*lines: str) -> str:
    text = SAMPLE
    for line in lines:
        text = text.replace(f"\n#{line}\n", f"\n{line}\n")
    return text


def name(line: str) -> str:
    return line.partition(":")[0]


def test_it_has_every_field_once() -> None:
    fields = {
        field.encode_name
        for document in (KubeletConfiguration, ProbeletConfiguration)
        for field in msgspec.structs.fields(document)
    }
    wanted = fields - {"apiVersion", "kind"} - UNAVAILABLE_FIELDS - OTHER_SPELLING
    assert sorted(map(name, LINES)) == sorted(wanted)


def test_as_it_is_it_changes_nothing(tmp_path: Path) -> None:
    config = load(SAMPLE, tmp_path)
    assert (config.origins, config.warnings) == ({}, [])


@pytest.mark.parametrize("line", LINES, ids=name)
def test_a_field_alone_is_valid_and_has_its_default(line: str, tmp_path: Path) -> None:
    before, config = load(SAMPLE, tmp_path), load(with_fields(line), tmp_path)
    assert config.warnings == []
    if name(line) == "crashLoopBackOff":
        assert config.crash_loop.max == before.crash_loop.max
    elif name(line) not in UNSET:
        assert (written(config.kubelet), written(config.probelet)) == (
            written(before.kubelet),
            written(before.probelet),
        )


def test_all_fields_together_are_valid(tmp_path: Path) -> None:
    assert load(with_fields(*LINES), tmp_path).warnings == []
