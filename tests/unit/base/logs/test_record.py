"""Records in the CRI's format, in pieces of any size."""

import tracemalloc

import pytest
from probelet.base.logs.record import HEADER_BYTES_MAX, RecordReader, read_header

TIME = b"2026-11-22T10:00:00.5+01:00"
LOG = (
    b"%(t)s stdout F one\n%(t)s stderr P half \n%(t)s stderr F line\n\n%(t)s stdout F \n{}\n"
    b"%(t)s stdin F not a stream\n%(t)s stdout P:new-tag last" % {b"t": TIME}
)


@pytest.mark.parametrize("size", [1, 3, 7, 40, 1000])
def test_pieces_of_any_size_are_the_same_text(size: int) -> None:
    reader = RecordReader()
    pieces = [piece for at in range(0, len(LOG), size) for piece in reader.pieces(LOG[at : at + size])]
    assert b"".join(piece.text for piece in pieces) == b"one\nhalf line\n\nlast"
    streams = [piece.header.stream for piece in pieces for _ in range(len(piece.text))]
    assert streams == ["stdout"] * 4 + ["stderr"] * 10 + ["stdout"] * 5


def test_the_time_has_nine_digits_and_its_zone() -> None:
    header = read_header(TIME + b" stdout F x")
    assert header is not None
    assert header.timestamp == "2026-11-22T10:00:00.500000000+01:00"
    assert header.unix_ns == 1_795_338_000_500_000_000


def test_a_line_of_any_length_stays_out_of_memory() -> None:
    reader, block = RecordReader(), b"x" * 65_536
    tracemalloc.start()
    for begin in (TIME + b" stdout F ", b"no header"):
        size = sum(len(piece.text) for piece in reader.pieces(begin))
        for _ in range(500):
            size += sum(len(piece.text) for piece in reader.pieces(block))
        assert size == (500 * len(block) if begin.startswith(TIME) else 0)
        list(reader.pieces(b"\n"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * len(block)
    assert len(reader._begun) <= HEADER_BYTES_MAX
