"""JSON objects that callers hand over. Whatever a caller sends, the answer is an object or a refusal."""

from typing import Any

import msgspec

from probelet.service.error import RequestError
from probelet.service.limit import OBJECT_BYTES_MAX


def check_size(text: bytes, what: str) -> None:
    """Raises RequestError if an object is too large to be read."""
    if len(text) > OBJECT_BYTES_MAX:
        raise RequestError("INVALID_ARGUMENT", f"{what}: Too long: must have at most {OBJECT_BYTES_MAX} bytes")


def decode_object(text: bytes, what: str) -> dict[str, Any]:
    """A JSON object. Raises RequestError for anything else."""
    check_size(text, what)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError("INVALID_ARGUMENT", f"{what}: not JSON: {error}") from error
    except RecursionError as error:
        raise _too_deep(what) from error
    if not isinstance(value, dict):
        raise RequestError("INVALID_ARGUMENT", f"{what}: must be a JSON object")
    return value


def encode_object(value: dict[str, Any], what: str) -> bytes:
    """The JSON of an object from ``decode_object``. An encoder can end at a depth that the decoder passed."""
    try:
        return msgspec.json.encode(value)
    except RecursionError as error:
        raise _too_deep(what) from error


def _too_deep(what: str) -> RequestError:
    return RequestError("INVALID_ARGUMENT", f"{what}: nested too deeply")
