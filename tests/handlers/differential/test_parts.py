"""The parts of the differential test: cases by number, what counts as a difference, and the shrinking of a case."""

from dataclasses import replace

from tests.handlers.differential.case import Answer, Case, End
from tests.handlers.differential.compare import Kind, differences
from tests.handlers.differential.generator import case_of
from tests.handlers.differential.probers import ProbeReport
from tests.handlers.differential.shrink import shrunk

LATE = b"context deadline exceeded"
AWAITING = b"net/http: request canceled (Client.Timeout exceeded while awaiting headers)"


def kinds(ours: ProbeReport, theirs: ProbeReport, sent: bytes = b"GET", expected: bytes = b"GET") -> set[Kind]:
    return {difference.kind for difference in differences(ours, theirs, [sent], [expected])}


def test_the_same_seed_and_number_give_the_same_case() -> None:
    assert [case_of(7, number) for number in range(50)] == [case_of(7, number) for number in range(50)]
    assert case_of(7, 0) != case_of(7, 1) != case_of(8, 1)


def test_shrinking_removes_every_part_that_the_difference_does_not_need() -> None:
    answers = (Answer((b"HTTP/1.1 200 OK\r\n", b"A: b\r\n\r\nbody!"), End.RESET), Answer((b"second",)))
    case = Case(answers, path="/a/b", host="localhost", headers=(("A", "b"), ("C", "d")))
    small = shrunk(case, lambda smaller: b"!" in smaller.answers[0].data and ("C", "d") in smaller.headers)
    assert small == Case((Answer((b"!",)),), headers=(("C", "d"),))


def test_shrinking_keeps_the_end_that_makes_a_case_differ() -> None:
    case = Case((Answer((b"a", b"b"), End.HOLD),))
    assert shrunk(case, lambda smaller: smaller.answers[0].end is End.HOLD) == Case((Answer((b"",), End.HOLD),))


def test_equal_answers_do_not_differ() -> None:
    answer = ProbeReport("success", b"ok", None, "ok")
    assert kinds(answer, answer) == set()


def test_two_wordings_of_one_timeout_do_not_differ() -> None:
    ours = ProbeReport("failure", b'Get "http://a/": ' + LATE, None, "header_timeout")
    assert kinds(ours, ProbeReport("failure", b'Get "http://a/": ' + AWAITING, None, "timeout")) == set()
    assert kinds(ours, ProbeReport("failure", b'Get "http://b/": ' + AWAITING, None, "timeout")) == {Kind.TEXT}


def test_two_local_ports_of_a_client_do_not_differ() -> None:
    ours = ProbeReport("failure", b"read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer", None, "reset")
    theirs = replace(ours, output=ours.output.replace(b":1->", b":3->"))
    assert kinds(ours, theirs) == set()
    assert kinds(ours, replace(theirs, output=theirs.output.replace(b":2:", b":4:"))) == {Kind.TEXT}


def test_a_text_of_go_beyond_our_limit_does_not_differ() -> None:
    ours = ProbeReport("failure", b"a" * 10_240, None, "malformed")
    assert kinds(ours, ProbeReport("failure", b"a" * 10_300, None, "malformed")) == set()
    assert kinds(ours, ProbeReport("failure", b"b" * 10_300, None, "malformed")) == {Kind.TEXT}


def test_a_failure_and_an_error_differ() -> None:
    ours = ProbeReport("failure", b"", b"unexpected EOF", "body")
    assert kinds(ours, ProbeReport("failure", b"unexpected EOF", None, "eof")) == {Kind.VERDICT}


def test_two_requests_differ_and_two_handshakes_do_not() -> None:
    answer = ProbeReport("success", b"", None, "ok")
    assert kinds(answer, answer, b"GET /a", b"GET /b") == {Kind.REQUESTS}
    assert kinds(answer, answer, b"\x16a", b"\x16b") == set()
