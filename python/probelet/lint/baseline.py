"""A baseline: the findings of the day on which a project began to lint. A run with it reports only new ones.

A finding is recognised by its rule, object, field and file, and not by its line or message, so that it survives edits
around it. The file is written in one order, so that version control shows what has changed.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypedDict

import msgspec

from probelet.base.files.regular_file import read_regular
from probelet.errors import ProbeletError
from probelet.lint.finding import Finding

SCHEMA: Final = "probelet-lint-baseline/1"
FILE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Room for some 200,000 findings."""


class BaselineError(ProbeletError):
    """The file is no baseline; one line."""


class Known(TypedDict):
    """A finding that is not reported."""

    rule: str
    """The id of the rule."""
    object: str
    """``Kind/namespace/name``; empty for a finding about a file."""
    path: str
    """The field."""
    file: str
    """The file, as the command line named it."""


class BaselineDocument(TypedDict):
    """The findings that ``probelet lint --baseline`` leaves out."""

    schema: Literal["probelet-lint-baseline/1"]
    findings: list[Known]
    """In the order of file, object, field and rule; one that is there twice counts for two findings."""


class Sifted(NamedTuple):
    """Findings beside a baseline."""

    new: list[Finding]
    known: int
    """How many of the findings the baseline has."""
    gone: int
    """How many findings of the baseline are no more."""


_Key = tuple[str, str, str, str]


def _key(finding: Finding) -> _Key:
    return finding.file, finding.object, finding.path, finding.rule


def encode_baseline(findings: Iterable[Finding]) -> bytes:
    """The baseline of these findings, indented, with a line break at its end."""
    known = [
        Known(rule=rule, object=object_, path=path, file=file)
        for file, object_, path, rule in sorted(_key(finding) for finding in findings)
    ]
    return msgspec.json.format(msgspec.json.encode(BaselineDocument(schema=SCHEMA, findings=known))) + b"\n"


def read_baseline(path: Path) -> list[Known]:
    """The findings of a baseline. Raises ``BaselineError``."""
    try:
        data = read_regular(path, FILE_BYTES_MAX)
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return msgspec.json.decode(data, type=BaselineDocument)["findings"]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path}: no baseline of 'probelet lint --write-baseline': {error}") from None


def sift(findings: Iterable[Finding], known: Iterable[Known]) -> Sifted:
    """The findings that the baseline does not have."""
    left = Counter((each["file"], each["object"], each["path"], each["rule"]) for each in known)
    new, met = [], 0
    for finding in findings:
        key = _key(finding)
        if left[key] > 0:
            left[key] -= 1
            met += 1
        else:
            new.append(finding)
    return Sifted(new, met, left.total())
