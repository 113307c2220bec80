"""What is left of messages with parts that cannot be read."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import example, given
from hypothesis import strategies as st
from probelet.runtime.cri import wire_format
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.cri.wire_format import Salvage, UnreadableError

LIST = api_pb2.ListPodSandboxResponse
WRONG = b"\xff\xfe\xff\xfe"
"""As long as ``MARK`` and not UTF-8."""
MARK = "QQQQ"


def spoilt(message: LIST) -> bytes:
    """The message with bytes that are not UTF-8 at each ``MARK``."""
    return message.SerializeToString().replace(MARK.encode(), WRONG)


def read(data: bytes) -> tuple[LIST, int]:
    salvage = Salvage()
    return LIST.FromString(salvage.readable(data, LIST.DESCRIPTOR)), salvage.left_out


OTHER = api_pb2.PodSandbox(id="other", labels={"a": "b"}, created_at=7)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"id": "a", "labels": {"x": MARK, "y": "1"}}, {"id": "a", "labels": {"y": "1"}}),
        ({"id": "a", "annotations": {MARK: "1", "y": "1"}}, {"id": "a", "annotations": {"y": "1"}}),
        (
            {"id": "a", "metadata": {"name": MARK, "uid": "u", "attempt": 3}},
            {"id": "a", "metadata": {"uid": "u", "attempt": 3}},
        ),
        ({"id": MARK, "runtime_handler": "runc"}, {"runtime_handler": "runc"}),
    ],
)
def test_a_text_that_is_not_utf8_is_absent_and_everything_else_stays(
    written: dict[str, object], expected: dict[str, object]
) -> None:
    data = spoilt(LIST(items=[OTHER, api_pb2.PodSandbox(**written), OTHER]))  # type: ignore[arg-type]
    with pytest.raises(DecodeError):
        LIST.FromString(data)
    found, left_out = read(data)
    assert left_out >= 1
    assert list(found.items) == [OTHER, api_pb2.PodSandbox(**expected), OTHER]  # type: ignore[arg-type]


def framed(content: bytes) -> bytes:
    return b"\x0a" + bytes([len(content)]) + content


@pytest.mark.parametrize(
    "item",
    [
        b"\x0a\x7fshort",
        b"\x0a",
        b"\x08",
        b"\x00\x00",
        b"\x20" + b"\xff" * 10,
        b"\x0b" * 100,
        b"\x0d\x01\x02",
        b"\x09\x01",
    ],
    ids=[
        "a longer length than the item",
        "no length",
        "no number",
        "tag 0",
        "eleven bytes of a number",
        "groups",
        "half a number of 4 bytes",
        "half a number of 8 bytes",
    ],
)
def test_an_item_without_its_frame_is_left_out_and_the_rest_is_read(item: bytes) -> None:
    data = framed(OTHER.SerializeToString()) + framed(item) + framed(OTHER.SerializeToString())
    assert read(data) == (LIST(items=[OTHER, OTHER]), 1)
    with pytest.raises(UnreadableError):
        Salvage().readable(item, LIST.DESCRIPTOR)


def test_a_message_with_too_many_messages_inside_is_refused_whichever_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_format, "ELEMENTS_MAX", 5)
    of_labels = api_pb2.PodSandbox(id="a", labels={str(number): "" for number in range(4)})
    assert read(LIST(items=[of_labels]).SerializeToString())[1] == 0
    for data in (framed(b"") * 6, LIST(items=[of_labels, OTHER]).SerializeToString()):
        with pytest.raises(UnreadableError, match="more than 5 messages in one"):
            read(data)


# A field number of 33 bits, and a tag that takes six bytes.
@example(b"\xc5\x80\x80\x80\x10\x00\x00\x00\x00")
@example(b"\x8a\x80\x80\x80\x80\x00\x00")
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for kind in (api_pb2.ListContainersResponse, LIST):
        try:
            readable = Salvage().readable(data, kind.DESCRIPTOR)
        except UnreadableError:
            continue
        kind.FromString(readable)


@given(
    st.lists(st.tuples(st.text(), st.dictionaries(st.text(), st.text(), max_size=3), st.integers(-(2**63), 2**63 - 1)))
)
def test_a_readable_message_stays_as_it_is(rows: list[tuple[str, dict[str, str], int]]) -> None:
    message = LIST(items=[api_pb2.PodSandbox(id=id, labels=labels, created_at=at) for id, labels, at in rows])
    data = message.SerializeToString()
    assert Salvage().readable(data, LIST.DESCRIPTOR) is data
