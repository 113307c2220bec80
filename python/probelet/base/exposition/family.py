"""Metric families in the Prometheus text format: heads, labels and series are written here and nowhere else."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

Number: TypeAlias = float | str
"""A value; a text is a number that was formatted already, because its digits are fixed."""

Series: TypeAlias = Iterable[tuple[str | tuple[str, ...], Number]]
"""The value of each label in the order of the labels' names (a family with one label has no tuple), and the number."""


def counter(name: str, text: str, numbers: Number | Series, *labels: str) -> Iterator[str]:
    """The lines of a counter: one number, or with ``labels`` a number for each of their values."""
    return _family("counter", name, text, numbers, labels)


def gauge(name: str, text: str, numbers: Number | Series, *labels: str) -> Iterator[str]:
    """The lines of a gauge: one number, or with ``labels`` a number for each of their values."""
    return _family("gauge", name, text, numbers, labels)


def page(*families: Iterable[str]) -> bytes:
    """The lines of all families as a page, or as a part of one."""
    return ("\n".join(chain.from_iterable(families)) + "\n").encode()


def head(kind: str, name: str, text: str) -> Iterator[str]:
    """The two lines before a family's series."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def pairs(labels: Sequence[str], values: tuple[str, ...]) -> str:
    """``type="liveness",result="failed"``. No value ends its quotes or its line."""
    return _pattern(labels) % _escaped(values)


def _family(kind: str, name: str, text: str, numbers: Number | Series, labels: Sequence[str]) -> Iterator[str]:
    yield from head(kind, name, text)
    if isinstance(numbers, float | int | str):
        yield f"{name} {numbers}"
        return
    # `/metrics/pods` has five lines a pod: the names of the labels are put together once.
    line = f"{name}{{{_pattern(labels)}}} %s"
    for values, number in numbers:
        yield line % (*_escaped((values,) if isinstance(values, str) else values), number)


def _pattern(labels: Sequence[str]) -> str:
    return ",".join(f'{label}="%s"' for label in labels)


def _escaped(values: tuple[str, ...]) -> tuple[str, ...]:
    together = "".join(values)
    if '"' in together or "\\" in together or "\n" in together:
        return tuple(value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in values)
    return values
