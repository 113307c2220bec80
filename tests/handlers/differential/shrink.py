"""Reduces a case that differs to a small case that differs in the same way."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.handlers.differential.case import Answer, Case, End

# Each try runs both probers; this many take a second or two, which a person can wait for.
RUNS_MAX = 600


def shrunk(case: Case, differs: Callable[[Case], bool]) -> Case:
    """Removes everything from the case that it does not need to make ``differs`` true."""
    left = RUNS_MAX

    def attempt(smaller: Case) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and smaller != case and differs(smaller)

    is_smaller = True
    while is_smaller and left > 0:
        is_smaller = False
        for smaller in _simpler(case):
            if attempt(smaller):
                case, is_smaller = smaller, True
                break
        else:
            for number in range(len(case.answers)):
                while (next_case := _without_a_piece(case, number, attempt)) is not None:
                    case, is_smaller = next_case, True
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """Cases with one whole part of the case removed or set to its default."""
    yield replace(case, path="/")
    yield replace(case, host="")
    yield replace(case, scheme="HTTP")
    for index in range(len(case.headers)):
        yield replace(case, headers=case.headers[:index] + case.headers[index + 1 :])
    for index, answer in enumerate(case.answers):
        if len(case.answers) > 1:
            yield replace(case, answers=case.answers[:index] + case.answers[index + 1 :])
        yield _with(case, index, Answer((answer.data,), End.CLOSE))
        yield _with(case, index, Answer((answer.data,), answer.end))


def _without_a_piece(case: Case, number: int, differs: Callable[[Case], bool]) -> Case | None:
    """The case without the longest piece of an answer that it does not need: first lines, then bytes."""
    answer = case.answers[number]
    if len(answer.parts) > 1:
        return None
    data = answer.data
    for pieces in (data.splitlines(keepends=True), [data[index : index + 1] for index in range(len(data))]):
        length = len(pieces)
        while length:
            for start in range(0, len(pieces), length):
                rest = b"".join(pieces[:start] + pieces[start + length :])
                smaller = _with(case, number, Answer((rest,), answer.end))
                if rest != data and differs(smaller):
                    return smaller
            length //= 2
    return None


def _with(case: Case, number: int, answer: Answer) -> Case:
    return replace(case, answers=(*case.answers[:number], answer, *case.answers[number + 1 :]))
