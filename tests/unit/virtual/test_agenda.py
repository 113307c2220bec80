"""One clock: what is due at the same moment, and whose turn it is."""

from probelet.virtual.agenda import Agenda, next_moment, play


class Beats:
    """A prober with deadlines at fixed moments, which writes down when it was advanced to one of them."""

    def __init__(self, log: list[str], *moments: int) -> None:
        self.log = log
        self.moments = list(moments)

    def next_ns(self) -> int | None:
        return self.moments[0] if self.moments else None

    def advance(self, now: int) -> None:
        while self.moments and self.moments[0] <= now:
            self.log.append(f"prober {self.moments.pop(0)}")


def test_entries_of_one_moment_happen_in_the_order_in_which_they_were_added() -> None:
    agenda, log = Agenda(), list[str]()
    agenda.at(5, lambda: log.append("late"))
    for name in "abc":
        agenda.at(3, lambda name=name: log.append(name))  # type: ignore[misc]
    play(agenda, Beats(log), 10)
    assert log == ["a", "b", "c", "late"]
    assert agenda.now == 10


def test_the_prober_comes_first_at_each_moment() -> None:
    agenda, log = Agenda(), list[str]()
    agenda.at(2, lambda: log.append("entry 2"))
    agenda.at(4, lambda: log.append("entry 4"))
    play(agenda, Beats(log, 1, 2, 4, 5), 4)
    assert log == ["prober 1", "prober 2", "entry 2", "prober 4", "entry 4"]


def test_an_entry_that_leads_to_more_at_its_moment_is_followed_by_it_before_the_clock_moves() -> None:
    agenda, log = Agenda(), list[str]()

    def chain(left: int) -> None:
        log.append(f"{left} at {agenda.now}")
        if left:
            agenda.at(agenda.now, lambda: chain(left - 1))

    agenda.at(7, lambda: chain(2))
    agenda.at(8, lambda: log.append("next"))
    play(agenda, Beats(log), 8)
    assert log == ["2 at 7", "1 at 7", "0 at 7", "next"]


def test_a_moment_that_is_over_counts_as_now() -> None:
    agenda, log = Agenda(), list[int]()
    play(agenda, Beats([]), 9)
    agenda.at(4, lambda: log.append(agenda.now))
    play(agenda, Beats([]), 9)
    assert log == [9]


def test_an_entry_that_was_cancelled_neither_happens_nor_moves_the_clock() -> None:
    agenda, log = Agenda(), list[str]()
    gone = agenda.at(3, lambda: log.append("gone"))
    agenda.at(6, lambda: log.append("kept"))
    gone.cancel()
    assert next_moment(agenda, Beats(log)) == 6
    play(agenda, Beats(log), 6)
    assert log == ["kept"]


def test_an_entry_may_cancel_another_of_its_own_moment() -> None:
    agenda, log = Agenda(), list[str]()
    agenda.at(3, lambda: second.cancel())
    second = agenda.at(3, lambda: log.append("second"))
    play(agenda, Beats(log), 3)
    assert log == []


def test_nothing_that_is_due_later_happens() -> None:
    agenda, log = Agenda(), list[str]()
    agenda.at(11, lambda: log.append("entry"))
    play(agenda, Beats(log, 12), 10)
    assert (log, next_moment(agenda, Beats(log, 12))) == ([], 11)
    assert next_moment(Agenda(), Beats(log)) is None
