"""Strands: what is under way at once, in the order in which it began."""

from probelet.policy.protocol.effects import Effect, Outcome, RemoveContainer
from probelet.policy.strands.strand import Branches, Strand, Strands, Turn, call, sleep_until


class Loom:
    """Strands whose effects only get tickets; ``said`` is what the strands themselves did, in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[Effect, ...]] = []
        self.said: list[str] = []
        self.strands = Strands(self.perform)

    def perform(self, effects: tuple[Effect, ...]) -> int:
        self.asked.append(effects)
        return len(self.asked)

    def caller(self, name: str) -> Strand[str]:
        (outcome,) = yield from call(RemoveContainer(name, name))
        self.said.append(f"{name}: {outcome.id}")
        return name


def test_a_strand_goes_on_with_the_outcomes_of_its_call() -> None:
    loom = Loom()
    loom.strands.begin(loom.caller("a"))
    assert [ticket for ticket, _ in loom.strands.calls()] == [1]
    assert not loom.strands.idle
    loom.strands.answer(1, (Outcome(id="done"),))
    assert loom.said == ["a: done"]
    assert loom.strands.idle


def test_branches_run_at_once_and_are_joined_in_their_order() -> None:
    loom = Loom()

    def parent() -> Strand[None]:
        names: list[str] = yield Branches((loom.caller("a"), loom.caller("b")))
        loom.said.append("+".join(names))

    loom.strands.begin(parent())
    assert len(loom.asked) == 2
    loom.strands.answer(2, (Outcome(id="2"),))
    loom.strands.answer(1, (Outcome(id="1"),))
    assert loom.said == ["b: 2", "a: 1", "a+b"]


def test_no_branches_are_joined_at_once() -> None:
    loom = Loom()

    def parent() -> Strand[None]:
        loom.said.append(str((yield Branches(()))))

    loom.strands.begin(parent())
    assert loom.said == ["[]"]


def test_a_turn_comes_when_it_is_ready_or_at_its_deadline() -> None:
    loom = Loom()
    ready = False

    def waiting(name: str, deadline: int | None) -> Strand[None]:
        yield Turn(lambda: ready, deadline)
        loom.said.append(name)

    loom.strands.begin(waiting("for ever", None))
    loom.strands.begin(waiting("until 10", 10))
    assert loom.strands.deadline_ns == 10
    loom.strands.look(9)
    assert loom.said == []
    loom.strands.look(10)
    assert (loom.said, loom.strands.deadline_ns) == (["until 10"], None)
    ready = True
    loom.strands.look(11)
    assert loom.said == ["until 10", "for ever"]


def test_a_turn_that_another_strand_made_ready_comes_in_the_same_look() -> None:
    loom = Loom()
    ended: list[str] = []

    def second() -> Strand[None]:
        yield Turn(lambda: "first" in ended)
        ended.append("second")

    def first() -> Strand[None]:
        yield from sleep_until(5)
        ended.append("first")

    loom.strands.begin(second())
    loom.strands.begin(first())
    loom.strands.look(5)
    assert ended == ["first", "second"]


def test_a_dropped_call_is_waited_for_by_nobody() -> None:
    loom = Loom()
    loom.strands.begin(loom.caller("a"))
    assert loom.strands.waits_for(1)
    loom.strands.drop(1)
    assert not loom.strands.waits_for(1)
    assert loom.said == []
