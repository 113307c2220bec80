"""Reads files of observations."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from probelet.errors import ProbeletError
from probelet.files.regular_file import read_regular
from probelet.lint.observed.container import ObservedContainer
from probelet.lint.observed.prometheus import observed_by_prometheus
from probelet.lint.observed.statusz import observed_by_probelet

FILE_BYTES_MAX: Final = 256 * 1024 * 1024
"""The status of a node of 1,000 pods has a few MiB; an answer of Prometheus may have that of a whole cluster."""


class ObservedError(ProbeletError):
    """A file that has no observations; one line."""


def read_observed(path: Path) -> list[ObservedContainer]:
    """The containers in a file. Raises ``ObservedError``."""
    try:
        document = json.loads(read_regular(path, FILE_BYTES_MAX))
        return list(_containers(document))
    except OSError as error:
        raise ObservedError(f"{path}: cannot be read: {error.strerror}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        wanted = "want the JSON of 'probelet status', of /statusz, or of a query of Prometheus"
        raise ObservedError(f"{path}: no observations ({type(error).__name__}: {error}); {wanted}") from None


def _containers(document: Any) -> Iterator[ObservedContainer]:
    documents = document if isinstance(document, list) else [document]
    own = [each for each in documents if each.get("schema") == "probelet-status/1"]
    for each in own:
        yield from observed_by_probelet(each)
    yield from observed_by_prometheus(each for each in documents if each not in own)
