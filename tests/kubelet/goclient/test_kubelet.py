"""The hooks of the kubelet whose prober is another process; its build is not part of these tests."""

from pathlib import Path

import pytest

from tests.kubelet.goclient.kubelet import PROBER, STATUS, hooked

CONSTRUCTORS = {
    PROBER: "func NewManager(\n\trecorder record.EventRecorderLogger) Manager {\n",
    STATUS: "func NewManager(podStartupLatencyHelper PodStartupLatencyStateHelper) Manager {\n",
}


@pytest.mark.parametrize("name", CONSTRUCTORS, ids=str)
def test_a_hook_follows_the_head_of_the_constructor(name: Path) -> None:
    head = CONSTRUCTORS[name]
    text = hooked(name, f"{head}\treturn &manager{{}}\n}}\n")
    assert text.startswith(f"{head}\t")
    assert text.count("\treturn &manager{}\n}\n") == 1
    assert text.index("HandOver" if name == PROBER else "Wrap") < text.index("&manager{}")


@pytest.mark.parametrize("times", [0, 2])
def test_a_release_whose_constructor_looks_otherwise_is_refused(times: int) -> None:
    with pytest.raises(ValueError, match=r"status_manager.go of v1\.\d+\.\d+ has no line"):
        hooked(STATUS, CONSTRUCTORS[STATUS] * times)
