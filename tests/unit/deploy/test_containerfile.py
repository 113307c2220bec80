"""``deploy/image/Containerfile`` says of the image what ``make image`` says of it."""

import json
import re

from tests.support.paths import ROOT
from tools.image.archive import COMMAND, ENTRYPOINT, ENVIRONMENT, labels
from tools.image.environment import USER_IDS

FILE = (ROOT / "deploy" / "image" / "Containerfile").read_text()


def instruction(name: str) -> str:
    """The text of the last instruction of this name, its lines joined."""
    return re.findall(rf"^{name} ((?:.*\\\n)*.*)$", FILE, re.MULTILINE)[-1].replace("\\\n", " ")


def test_the_settings_are_equal() -> None:
    assert json.loads(instruction("ENTRYPOINT")) == ENTRYPOINT
    assert json.loads(instruction("CMD")) == COMMAND
    assert instruction("USER") == USER_IDS
    assert instruction("ENV").split() == ENVIRONMENT


def test_the_labels_are_equal_but_for_the_version_which_the_file_does_not_know() -> None:
    found = dict(re.findall(r'([\w.]+)="([^"]*)"', instruction("LABEL")))
    wanted = labels("")
    del wanted["org.opencontainers.image.version"]
    assert found == wanted


def test_the_last_stage_begins_with_nothing() -> None:
    assert re.findall(r"^FROM (\S+)", FILE, re.MULTILINE)[-1] == "scratch"
