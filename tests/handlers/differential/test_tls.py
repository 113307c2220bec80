"""Servers with every kind of certificate, key, chain and offer: a handshake succeeds and fails as in the kubelet.

The kubelet's client trusts every certificate. Still it refuses one that it cannot parse and a server that lacks the
certificate's key, so a prober that looked at neither would call a server healthy that fails the kubelet's probe.
"""

import json
import re
from collections.abc import Iterator

import pytest
from probelet import _rust

from tests.handlers.differential import probers
from tests.handlers.differential.case import USER_AGENT, Answer, Case
from tests.handlers.differential.probers import ProbeReport
from tests.handlers.differential.tls_server import GoTls, tickets
from tests.support.required import missing

pytestmark = pytest.mark.e2e

CASE = Case((Answer(()),), scheme="HTTPS", timeout_seconds=10)
EQUAL = [
    b"failed to parse",
    b"invalid signature",
    b"certificate used",
    b"server sent",
    b"server's cert",
    b"too many non",
]
OF_EQUAL_TEXT = re.compile(b": tls: (" + b"|".join(EQUAL) + b")")
# Each number changes a certificate in other places.
MUTATIONS = 250
MUTATIONS_IN_ALL = 1500
# rustls takes 64 KiB of certificates (docs/kubelet-parity.md): a prober error.
KNOWN = {
    "chain-70": ("unknown", "success"),
    "chain-200": ("unknown", "success"),
    "chain-255": ("unknown", "success"),
    "chain-257": ("unknown", "failure"),
}


@pytest.fixture(scope="module")
def go() -> Iterator[probers.Go]:
    try:
        program = probers.build()
    except probers.GoMissingError as error:
        missing("go", str(error))
    with probers.Go(program) as go:
        yield go


@pytest.fixture(scope="module")
def server(go: probers.Go) -> Iterator[GoTls]:
    with GoTls(probers.build("gotls")) as server:
        yield server


def difference(go: probers.Go, port: int) -> tuple[ProbeReport, ProbeReport] | None:
    """Our answer and Go's, if the results differ, or the texts about certificates, keys and tickets."""
    theirs, ours = go.probe(CASE, port), probers.probe(CASE, port)
    same = (ours.result, ours.error) == (theirs.result, theirs.error)
    if OF_EQUAL_TEXT.search(theirs.output):
        same &= ours.output == theirs.output
    return None if same else (ours, theirs)


def test_every_server_passes_and_fails_as_in_the_kubelet(go: probers.Go, server: GoTls) -> None:
    differ = {}
    for name in server.names():
        server.begin(name)
        if found := difference(go, server.port):
            differ[name] = found
    assert {name: found for name, found in differ.items() if name not in KNOWN} == {}
    assert {name: (ours.result, theirs.result) for name, (ours, theirs) in differ.items()} == KNOWN


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(range(MUTATIONS), id="some"),
        pytest.param(range(MUTATIONS, MUTATIONS_IN_ALL), id="others", marks=pytest.mark.slow),
    ],
)
def test_a_changed_certificate_is_refused_for_the_reason_that_go_gives(
    numbers: range, go: probers.Go, server: GoTls
) -> None:
    differ = {}
    for number in numbers:
        server.begin(f"mutated {number}")
        if found := difference(go, server.port):
            differ[number] = found
    assert differ == {}


# Go gives up at the seventeenth message without data.
@pytest.mark.parametrize("count", [0, 2, 16, 17, 18, 100, 20_000])
def test_a_server_may_send_as_many_tickets_as_in_the_kubelet(count: int, go: probers.Go) -> None:
    with tickets(count) as port:
        assert difference(go, port) is None


def test_a_grpc_probe_takes_a_chain_that_is_too_long_for_a_limit_of_its_own(server: GoTls) -> None:
    server.begin("chain-70")
    probe = json.dumps({"grpc": {"port": server.port, "mode": "TLS"}, "timeoutSeconds": 10}).encode()
    told = json.loads(_rust.attempt(probe, probers.POD_IP, [], USER_AGENT))
    assert (told["outcome"], told["cause"]) == ("error", "starved")
