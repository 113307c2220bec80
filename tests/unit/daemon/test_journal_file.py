"""The journal's place in the state directory, whatever is there."""

import os
from pathlib import Path
from typing import Any

import pytest
from probelet._rust import Backoff, Engine
from probelet.config.load import load_config
from probelet.daemon.engine import journal
from structlog.testing import capture_logs

KINDS = ["file", "directory", "pipe", "link", "link to a device"]


def put(path: Path, kind: str) -> None:
    match kind:
        case "file":
            path.write_text("no journal")
        case "directory":
            (path / "inside").mkdir(parents=True)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.symlink_to("victim" if kind == "link" else "/dev/zero")


@pytest.mark.parametrize("kind", KINDS)
def test_without_restore_what_is_there_goes_or_is_one_warning(tmp_path: Path, kind: str) -> None:
    (tmp_path / "victim").write_text("kept")
    put(tmp_path / "journal", kind)
    with capture_logs() as lines:
        assert journal(load_config(None), tmp_path, Backoff()) is None
    assert os.path.lexists(tmp_path / "journal") == (kind == "directory")
    assert [line["event"] for line in lines] == (["journal: cannot be removed"] if kind == "directory" else [])
    assert (tmp_path / "victim").read_text() == "kept"


@pytest.mark.parametrize("kind", KINDS)
def test_an_engine_refuses_what_is_no_journal_with_one_line_and_writes_a_new_one(tmp_path: Path, kind: str) -> None:
    (tmp_path / "victim").write_text("kept")
    put(tmp_path / "journal", kind)
    options: dict[str, Any] = {"journal": (tmp_path / "journal", Backoff()), "glue": False}
    engine = Engine(**options)
    notices = engine.drain().notices
    assert [notice.is_warning for notice in notices] == [True]
    assert notices[0].text.startswith("journal: not believed, every probe starts anew: it ")
    assert notices[0].text.endswith("journal.refused")
    engine.close()
    assert not (tmp_path / "journal").exists() or (tmp_path / "journal").is_file()
    assert (tmp_path / "victim").read_text() == "kept"
