"""The packets of a trace: tracks, and slices, instants and counters on them."""

from typing import Final, TypeAlias

from probelet.lab.picture.perfetto.wire import double, integer, message, text
from probelet.spec.text.duration import SECOND

Note: TypeAlias = tuple[str, str | int | float]
"""A name and a value, which the viewer shows beside an event."""


# The numbers of the fields, by message.
_TRACE_PACKET: Final = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _SEQUENCE_FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60
_UUID, _NAME, _PARENT, _COUNTER, _CHILD_ORDERING, _RANK = 1, 2, 5, 8, 11, 12
_UNIT_NAME: Final = 6
_TYPE, _TRACK, _EVENT_NAME, _ANNOTATION, _COUNTER_VALUE = 9, 11, 23, 4, 44
_NOTE_NAME, _NOTE_INTEGER, _NOTE_DOUBLE, _NOTE_TEXT = 10, 4, 5, 6

_BEGIN, _END, _INSTANT, _COUNT = 1, 2, 3, 4
_EXPLICIT_ORDER: Final = 3
_ONLY_SEQUENCE: Final = 1
_STATE_CLEARED: Final = 1


class Packets:
    """Collects the packets of one trace.

    Laws
     1. A track is described before its events.
     2. The slices of one track follow each other: `slice` is called with rising times.
    """

    def __init__(self) -> None:
        self._parts = [_packet(integer(_SEQUENCE_FLAGS, _STATE_CLEARED))]
        self._tracks = 0

    def track(self, name: str, parent: int = 0, unit: str | None = None) -> int:
        """A new track below ``parent``, after its siblings; ``unit`` makes it one of a counter. Returns its number."""
        self._tracks += 1
        fields = [
            integer(_UUID, self._tracks),
            text(_NAME, name),
            integer(_CHILD_ORDERING, _EXPLICIT_ORDER),
            integer(_RANK, self._tracks),
        ]
        if parent:
            fields.append(integer(_PARENT, parent))
        if unit is not None:
            fields.append(message(_COUNTER, text(_UNIT_NAME, unit)))
        self._parts.append(_packet(message(_DESCRIPTOR, *fields)))
        return self._tracks

    def slice(self, track: int, begin: float, end: float, name: str, *notes: Note) -> None:
        """Something that lasts, in seconds. It lasts a nanosecond at least, or a viewer would not show it."""
        start = _nanoseconds(begin)
        self._event(track, start, _BEGIN, text(_EVENT_NAME, name), *map(_note, notes))
        self._event(track, max(_nanoseconds(end), start + 1), _END)

    def instant(self, track: int, at: float, name: str, *notes: Note) -> None:
        """Something that happens at a moment, in seconds."""
        self._event(track, _nanoseconds(at), _INSTANT, text(_EVENT_NAME, name), *map(_note, notes))

    def count(self, track: int, at: float, value: float) -> None:
        """A counter has a value from a moment on."""
        self._event(track, _nanoseconds(at), _COUNT, double(_COUNTER_VALUE, value))

    def encoded(self) -> bytes:
        """The trace."""
        return b"".join(self._parts)

    def _event(self, track: int, at: int, kind: int, *fields: bytes) -> None:
        event = message(_EVENT, integer(_TYPE, kind), integer(_TRACK, track), *fields)
        self._parts.append(_packet(integer(_TIMESTAMP, at), event))


def _packet(*fields: bytes) -> bytes:
    return message(_TRACE_PACKET, integer(_SEQUENCE, _ONLY_SEQUENCE), *fields)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * SECOND)


def _note(note: Note) -> bytes:
    name, value = note
    match value:
        case str():
            field = text(_NOTE_TEXT, value)
        case int():
            field = integer(_NOTE_INTEGER, value)
        case _:
            field = double(_NOTE_DOUBLE, value)
    return message(_ANNOTATION, text(_NOTE_NAME, name), field)
