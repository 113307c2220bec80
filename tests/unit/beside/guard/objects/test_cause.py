"""Causes by the kubelet's texts; the words are the engine's."""

import re

import pytest
from probelet.beside.guard.objects.cause import cause_of

from tests.support.paths import ROOT

TEXTS = {
    "status": "HTTP probe failed with statuscode: 503",
    "grpc_status": 'service unhealthy (responded with "NOT_SERVING")',
    "connect_timeout": "dial tcp 10.0.0.1:80: i/o timeout",
    "header_timeout": 'Get "http://10.0.0.1:80/": Client.Timeout exceeded while awaiting headers)',
    "exec_timeout": 'command "sleep 9" timed out',
    "refused": 'Get "http://10.0.0.1:80/": dial tcp 10.0.0.1:80: connect: connection refused',
    "reset": 'Get "http://10.0.0.1:80/": read tcp 1->2: read: connection reset by peer',
    "dns": "dial tcp: lookup db on 10.0.0.10:53: no such host",
    "unreachable": "dial tcp 10.0.0.1:80: connect: no route to host",
    "tls": "x509: certificate signed by unknown authority",
    "malformed": 'net/http: HTTP/1.x transport connection broken: malformed HTTP response "x"',
    "redirect": "stopped after 10 redirects",
    "eof": 'Get "http://10.0.0.1:80/": EOF',
    "exec_exit": "cat: /tmp/healthy: No such file or directory",
}


@pytest.mark.parametrize(("cause", "text"), TEXTS.items())
def test_a_text_has_its_cause(cause: str, text: str) -> None:
    assert cause_of(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('timeout: failed to connect service "10.0.0.1:80" within 1s: context deadline exceeded', "connect_timeout"),
        ("timeout: health rpc did not complete within 1s", "header_timeout"),
        ("", "exec_exit"),
        ("x" * 1_000 + "connection refused", "exec_exit"),
    ],
)
def test_texts_that_have_words_of_two(text: str, cause: str) -> None:
    assert cause_of(text) == cause


def test_the_words_are_those_of_the_engine() -> None:
    source = (ROOT / "rust/play/src/cause.rs").read_text()
    assert set(TEXTS) <= set(re.findall(r'=> "(\w+)"', source))
