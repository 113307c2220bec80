"""What several runs of a picture are called: by what differs between them."""

from collections.abc import Sequence
from pathlib import PurePath

from probelet.lab.picture.document import RunRow, SimulateDocument
from probelet.lab.picture.wording import headline


def names_of(runs: Sequence[RunRow]) -> list[str]:
    """A short name for each run: who decides about kills, or what the paths of the manifests have not in common."""
    if any("guard" in run for run in runs):
        return ["enhanced liveness" if "guard" in run else "each kubelet decides" for run in runs]
    paths = [[PurePath(path).with_suffix("").parts for path in run["manifests"]] for run in runs]
    every = [parts for of_run in paths for parts in of_run]
    start = _shared(every)
    # Two versions of one file, each in a directory of its own, differ in that directory.
    end = _shared([parts[start:][::-1] for parts in every]) if len(runs) > 1 else 0
    if not every or any(len(parts) <= start + end for parts in every):
        end = 0
    if any(len(parts) <= start for parts in every):
        start = min(map(len, every), default=1) - 1
    return [", ".join("/".join(parts[start : len(parts) - end]) or "-" for parts in of_run) for of_run in paths]


def title_of(document: SimulateDocument) -> str:
    """The title of a picture: how it ended, or of several runs what was compared; and what was played."""
    runs = runs_of(document)
    what = headline(document, document["scenario"]) if len(runs) == 1 else " beside ".join(names_of(runs))
    return f"{what}: {document['scenario']['title']}"


def runs_of(document: SimulateDocument) -> list[RunRow]:
    """The runs from top to bottom."""
    return [document, document["against"]] if "against" in document else [document]


def _shared(paths: Sequence[Sequence[str]]) -> int:
    """How many parts all paths have in common at their beginning."""
    count = 0
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        count += 1
    return count
