"""Plays every recorded case of the kubelet's handlers against our handlers, on real sockets."""

import pytest
from probelet_conformance.difference import Difference
from probelet_conformance.handlers.case.case import Case
from probelet_conformance.handlers.case.folder import load
from probelet_conformance.handlers.known import reason_for
from probelet_conformance.handlers.play import examined

from tests.support.paths import HANDLER_CASES

# Some recorded servers speak TLS 1.0 or 1.1, which Python calls deprecated.
OLD_TLS = pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
pytestmark = [pytest.mark.e2e, OLD_TLS]

CASES = [case for path in sorted(HANDLER_CASES.rglob("*.jsonl")) for case in load(path)]
# The cases that differ for a reason that probelet_conformance.handlers.known gives.
KNOWN = {
    "grpc_tls_cipher_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "grpc_tls_cipher_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "grpc_tls_cipher_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "grpc_tls_cipher_RSA_WITH_3DES_EDE_CBC_SHA",
    "grpc_tls_cipher_RSA_WITH_AES_256_GCM_SHA384",
    "h2_tls12_cbc",
    "tls_cipher_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "tls_cipher_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "tls_cipher_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "tls_cipher_RSA_WITH_3DES_EDE_CBC_SHA",
    "tls_cipher_RSA_WITH_AES_256_GCM_SHA384",
    "tls_handshake_alert",
    # Go before 1.26 writes bytes that are no UTF-8 as they are.
    *(f"{release}_{name}" for release in ("1_34", "1_35") for name in ("name_ff8", "name_latin1")),
    *(
        f"{release}_random_{number}"
        for release in ("1_34", "1_35")
        for number in ("0024", "0027", "0046", "0057", "0058", "0094", "0182", "0221", "0279")
    ),
}


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> dict[str, list[Difference]]:
    """Plays all selected cases side by side."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")]
    selected = [case for item in items if isinstance(case := item.callspec.params.get("case"), Case)]
    return {case.name: found for case, found in examined(selected)}


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_our_handler_answers_as_the_kubelets_handler_does(case: Case, played: dict[str, list[Difference]]) -> None:
    found = played[case.name]
    assert bool(found) == (case.name in KNOWN), f"{case.reason}: {found}"
    assert [difference for difference in found if reason_for(case, difference) is None] == []


def test_no_recorded_case_is_missing() -> None:
    assert len(CASES) == 1011 + 425 + 100 + 170 + 89 + 194 + 115 + 104 + 48
    assert {case.name for case in CASES} >= KNOWN
