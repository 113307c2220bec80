"""``Batch.notices``: the engine's lines for the log, each with its level."""

from pathlib import Path

from probelet._rust import Backoff, Engine, Notice


def first_notices(journal: Path) -> list[Notice]:
    engine = Engine(journal=(journal, Backoff()))
    try:
        return engine.drain().notices
    finally:
        engine.close()


def test_a_journal_that_is_refused_is_a_warning_and_one_that_is_restored_is_not(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    journal.write_text("this is no journal")
    [refused] = first_notices(journal)
    assert refused.is_warning
    assert refused.text.startswith("journal: not believed, every probe starts anew: ")
    [restored] = first_notices(journal)
    assert not restored.is_warning
    assert restored.text.startswith("journal: ")
