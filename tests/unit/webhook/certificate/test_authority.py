"""When the webhook's own authority and certificate are renewed."""

import time
from dataclasses import replace

import pytest
from probelet._rust import issue_certificate, make_authority
from probelet.base.pem import pem
from probelet.webhook.certificate.authority import (
    AUTHORITY_SECONDS,
    BACKDATED_SECONDS,
    NAME,
    SERVER_SECONDS,
    Kept,
    renewed,
    why_refused,
)
from probelet.webhook.certificate.pair import CertificateError, CertificatePair, certificates, der_of_key, validity

from tests.unit.webhook.certificate.rig import DAY, HOSTS

NOW = int(time.time())


def fresh(now: int = NOW, hosts: tuple[str, ...] = HOSTS) -> Kept:
    made = renewed(None, hosts, now)
    assert made is not None
    return made[0]


def with_server(kept: Kept, not_before: int, not_after: int) -> Kept:
    """The same authority with a certificate of other dates."""
    chain, key = issue_certificate(NAME, der_of_key(kept.authority_key), HOSTS, not_before, not_after)
    pair = CertificatePair(pem("CERTIFICATE", chain), pem("PRIVATE KEY", key), not_before, not_after)
    return replace(kept, pair=pair)


def test_the_first_one_serves_each_host_and_holds_from_an_hour_ago() -> None:
    kept = fresh()
    assert why_refused(kept, HOSTS) is None
    assert validity(certificates(kept.authorities)[0]) == (NOW - BACKDATED_SECONDS, NOW + AUTHORITY_SECONDS)
    assert (kept.pair.not_before, kept.pair.not_after) == (NOW - BACKDATED_SECONDS, NOW + SERVER_SECONDS)
    assert renewed(kept, HOSTS, NOW) is None


def test_it_is_read_back_from_the_secret() -> None:
    kept = fresh()
    assert Kept.of(kept.data) == kept


@pytest.mark.parametrize("lacking", ["ca.crt", "ca.key", "tls.crt", "tls.key"])
def test_a_secret_that_lacks_a_key_cannot_be_read(lacking: str) -> None:
    with pytest.raises(CertificateError, match=f"it has no {lacking}"):
        Kept.of({key: value for key, value in fresh().data.items() if key != lacking})


def test_the_server_certificate_is_renewed_when_a_third_is_left() -> None:
    kept = fresh()
    just_before = kept.pair.not_after - (kept.pair.not_after - kept.pair.not_before) // 3 - 1
    assert renewed(kept, HOSTS, just_before) is None
    made = renewed(kept, HOSTS, just_before + 2)
    assert made is not None
    assert made[1] == "it ends soon"
    # The authority stays, so the caBundle does.
    assert (made[0].authorities, made[0].authority_key) == (kept.authorities, kept.authority_key)
    assert made[0].pair.chain != kept.pair.chain


def test_an_expired_certificate_is_renewed_with_the_same_authority() -> None:
    kept = with_server(fresh(), NOW - 2 * DAY, NOW - DAY)
    made = renewed(kept, HOSTS, NOW)
    assert made is not None
    assert made[1] == "it ends soon"
    assert made[0].authorities == kept.authorities
    assert why_refused(made[0], HOSTS) is None


def test_a_certificate_for_other_names_is_renewed() -> None:
    made = renewed(fresh(hosts=("old.example.svc",)), HOSTS, NOW)
    assert made is not None
    assert "match" in made[1]
    assert why_refused(made[0], HOSTS) is None


def test_an_authority_near_its_end_is_replaced_and_stays_trusted_while_it_holds() -> None:
    old = fresh(NOW - AUTHORITY_SECONDS + 2 * SERVER_SECONDS - DAY)
    made = renewed(old, HOSTS, NOW)
    assert made is not None
    assert made[1] == "the authority ends soon"
    assert certificates(made[0].authorities)[1:] == certificates(old.authorities)
    assert why_refused(made[0], HOSTS) is None
    # A replica that still serves the old certificate is trusted by the new bundle too.
    assert why_refused(replace(with_server(old, NOW - DAY, NOW + DAY), authorities=made[0].authorities), HOSTS) is None


def test_an_authority_that_has_ended_is_trusted_no_longer() -> None:
    certificate, key = make_authority(NAME, NOW - 2 * DAY, NOW - DAY)
    old = Kept(pem("CERTIFICATE", certificate), pem("PRIVATE KEY", key), fresh().pair)
    made = renewed(old, HOSTS, NOW)
    assert made is not None
    assert len(certificates(made[0].authorities)) == 1


@pytest.mark.parametrize("key", [b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_without_the_authoritys_key_there_is_a_new_authority(key: bytes) -> None:
    kept = replace(fresh(hosts=("old.example.svc",)), authority_key=key)
    made = renewed(kept, HOSTS, NOW)
    assert made is not None
    assert made[1].startswith("the authority's key: ")
    assert certificates(made[0].authorities)[1:] == certificates(kept.authorities)
    assert why_refused(made[0], HOSTS) is None


def test_a_key_of_another_authority_is_found_out() -> None:
    kept = replace(fresh(hosts=("old.example.svc",)), authority_key=fresh().authority_key)
    made = renewed(kept, HOSTS, NOW)
    assert made is not None
    assert made[1] == "the authority's key is not that of its certificate"
    assert why_refused(made[0], HOSTS) is None


def test_a_certificate_whose_key_is_another_one_is_replaced() -> None:
    kept = fresh()
    pair = replace(kept.pair, key=fresh().pair.key)
    assert why_refused(replace(kept, pair=pair), HOSTS) == (
        "the certificate and its key cannot be used: KEY_VALUES_MISMATCH"
    )
    made = renewed(replace(kept, pair=pair), HOSTS, NOW)
    assert made is not None
    assert made[0].authorities == kept.authorities
