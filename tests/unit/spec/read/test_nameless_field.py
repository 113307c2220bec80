"""Messages name a key even if it is the empty text."""

from pathlib import Path

import pytest
from probelet.spec import load


def test_every_message_has_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("f.yaml")
    path.write_text('apiVersion: v1\nkind: Pod\n"": 1\nspec: {"": 2, "": 3}\n')
    assert [str(problem) for problem in load([path]).problems if problem.severity == "warning"] == [
        'f.yaml:4: warning: spec."": duplicate field, the last one counts',
        'f.yaml:3: warning: "": unknown field, ignored',
        'f.yaml:4: warning: spec."": unknown field, ignored',
    ]
