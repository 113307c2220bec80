"""What the API server said about ContainerRecreateRequests, from the record of a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.guarded.stage import REQUESTS, Stage
from tests.cluster.record.notes import Notes, read


@contextmanager
def noted(stage: Stage, kind: str = REQUESTS) -> Iterator[Path]:
    """A file with every change of the objects of one kind in the namespace, until the end of the block. It begins with
    the objects that there are."""
    there_are = len(stage.cluster.api.items(stage.namespace.path(kind)))
    folder = stage.cluster.folder / "scenes"
    folder.mkdir(exist_ok=True)
    file = folder / f"{stage.namespace.name}-{kind.rpartition('/')[2]}.jsonl"
    notes = Notes(stage.cluster.api, stage.namespace.path(kind), file)
    notes.start()
    try:
        stage.until(lambda: file.read_text().count("\n") >= there_are, f"a note about each of the {kind}")
        yield file
    finally:
        notes.end()


def most_at_once(file: Path) -> int:
    """How many requests were under way at the same time, at most."""
    under_way: set[str] = set()
    most = 0
    for note in read(file):
        request = note["object"]
        name = request["metadata"]["name"]
        ended = note["type"] == "DELETED" or request.get("status", {}).get("phase") == "Completed"
        (under_way.discard if ended else under_way.add)(name)
        most = max(most, len(under_way))
    return most
