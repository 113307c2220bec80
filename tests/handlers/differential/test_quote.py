"""All code points: our quoting must escape exactly the code points that Go's strconv.Quote escapes."""

import subprocess

import pytest
from probelet.spec.text.golang import go_quote

from tests.handlers.differential import probers
from tests.support.required import missing

pytestmark = pytest.mark.e2e

SURROGATES = range(0xD800, 0xE000)


def test_every_code_point_is_quoted_as_go_quotes_it() -> None:
    try:
        program = probers.build("goquote")
    except probers.GoMissingError as error:
        missing("go", str(error))
    message = subprocess.run([program], capture_output=True, check=True).stdout.decode().split("\n")
    version, quoted = message[0], message[1:-1]
    ours = [go_quote(chr(c)) for c in range(0x110000) if c not in SURROGATES]
    assert len(quoted) == len(ours)
    differ = [(go, our) for go, our in zip(quoted, ours, strict=True) if go != our]
    assert not differ, f"Go has Unicode {version}: {differ[:20]}"
