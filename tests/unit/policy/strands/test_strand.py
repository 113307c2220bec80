"""Strands run concurrently and resume in the order in which they began."""

from probelet.policy.protocol.effects import Effect, Outcome, RemoveContainer
from probelet.policy.strands.strand import Branches, Strand, Strands, Turn, call, sleep_until


class StrandRunner:
    """Strands whose effects only get tickets; ``steps`` logs the steps of the strands in order."""

    def __init__(self) -> None:
        self.asked: list[tuple[Effect, ...]] = []
        self.steps: list[str] = []
        self.strands = Strands(self.perform)

    def perform(self, effects: tuple[Effect, ...]) -> int:
        self.asked.append(effects)
        return len(self.asked)

    def caller(self, name: str) -> Strand[str]:
        (outcome,) = yield from call(RemoveContainer(name, name))
        self.steps.append(f"{name}: {outcome.id}")
        return name


def test_a_strand_resumes_with_the_outcomes_of_its_call() -> None:
    runner = StrandRunner()
    runner.strands.begin(runner.caller("a"))
    assert [ticket for ticket, _ in runner.strands.calls()] == [1]
    assert not runner.strands.idle
    runner.strands.answer(1, (Outcome(id="done"),))
    assert runner.steps == ["a: done"]
    assert runner.strands.idle


def test_branches_run_at_once_and_are_joined_in_their_order() -> None:
    runner = StrandRunner()

    def parent() -> Strand[None]:
        names: list[str] = yield Branches((runner.caller("a"), runner.caller("b")))
        runner.steps.append("+".join(names))

    runner.strands.begin(parent())
    assert len(runner.asked) == 2
    runner.strands.answer(2, (Outcome(id="2"),))
    runner.strands.answer(1, (Outcome(id="1"),))
    assert runner.steps == ["b: 2", "a: 1", "a+b"]


def test_no_branches_are_joined_at_once() -> None:
    runner = StrandRunner()

    def parent() -> Strand[None]:
        runner.steps.append(str((yield Branches(()))))

    runner.strands.begin(parent())
    assert runner.steps == ["[]"]


def test_a_turn_comes_when_it_is_ready_or_at_its_deadline() -> None:
    runner = StrandRunner()
    ready = False

    def waiting(name: str, deadline: int | None) -> Strand[None]:
        yield Turn(lambda: ready, deadline)
        runner.steps.append(name)

    runner.strands.begin(waiting("for ever", None))
    runner.strands.begin(waiting("until 10", 10))
    assert runner.strands.deadline_ns == 10
    runner.strands.resume(9)
    assert runner.steps == []
    runner.strands.resume(10)
    assert (runner.steps, runner.strands.deadline_ns) == (["until 10"], None)
    ready = True
    runner.strands.resume(11)
    assert runner.steps == ["until 10", "for ever"]


def test_a_turn_that_another_strand_makes_ready_comes_in_the_same_pass() -> None:
    runner = StrandRunner()
    ended: list[str] = []

    def second() -> Strand[None]:
        yield Turn(lambda: "first" in ended)
        ended.append("second")

    def first() -> Strand[None]:
        yield from sleep_until(5)
        ended.append("first")

    runner.strands.begin(second())
    runner.strands.begin(first())
    runner.strands.resume(5)
    assert ended == ["first", "second"]


def test_no_strand_waits_for_a_dropped_call() -> None:
    runner = StrandRunner()
    runner.strands.begin(runner.caller("a"))
    assert runner.strands.waits_for(1)
    runner.strands.drop(1)
    assert not runner.strands.waits_for(1)
    assert runner.steps == []
