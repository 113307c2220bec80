"""When a caBundle is the right one."""

import base64
import time

import pytest
from probelet._rust import make_authority
from probelet.base.pem import pem
from probelet.webhook.certificate.ca_bundle import is_right

NOW = int(time.time())


def authority(begin: int = -60, end: int = 3600) -> bytes:
    return pem("CERTIFICATE", make_authority("test", NOW + begin, NOW + end)[0])


OURS, OTHER, ENDED = authority(), authority(), authority(-7200, -3600)


@pytest.mark.parametrize(
    ("bundle", "right"),
    [
        (OURS, True),
        (OURS + OTHER, True),
        (OTHER + b"# a remark\n" + OURS, True),
        (b"", False),
        (OTHER, False),
        (OURS + ENDED, False),
        (OURS + pem("CERTIFICATE", b"no certificate"), False),
        (OURS[:-40], False),
    ],
)
def test_it_has_ours_and_nothing_that_holds_no_longer(bundle: bytes, right: bool) -> None:
    assert is_right(base64.b64encode(bundle).decode(), OURS, NOW) is right


@pytest.mark.parametrize("text", ["!", "AAA", "\u00e4"])
def test_what_is_not_base64_is_not_right(text: str) -> None:
    assert not is_right(text, OURS, NOW)


def test_each_of_two_authorities_has_to_be_there() -> None:
    assert not is_right(base64.b64encode(OURS).decode(), OURS + OTHER, NOW)
