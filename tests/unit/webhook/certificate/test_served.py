"""The certificate in use: new ones, bad ones, and the dates."""

import asyncio
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from probelet.webhook.certificate.authority import renewed
from probelet.webhook.certificate.files import LOOK_NS, CertificateFiles
from probelet.webhook.certificate.pair import CertificateError, CertificatePair, certificates
from probelet.webhook.certificate.served import ServedCertificate
from probelet.webhook.metrics import WebhookMetrics

from tests.unit.kube.virtual_clock import until
from tests.unit.webhook.certificate.rig import DAY, HOSTS, RealDays, shown


@pytest.fixture
def clock() -> RealDays:
    return RealDays()


@pytest.fixture
def served(clock: RealDays) -> ServedCertificate:
    return ServedCertificate(WebhookMetrics(), clock.wall_ns)


def pair(clock: RealDays) -> CertificatePair:
    made = renewed(None, HOSTS, clock.wall_ns() // 1_000_000_000)
    assert made is not None
    return made[0].pair


def der(one: CertificatePair) -> bytes:
    return certificates(one.chain)[0]


async def test_a_new_certificate_counts_for_the_next_handshake(clock: RealDays, served: ServedCertificate) -> None:
    for one in (pair(clock), pair(clock)):
        served.use(one)
        assert shown(served.context) == der(one)


async def test_a_key_of_another_certificate_leaves_the_old_one_in_use(
    clock: RealDays, served: ServedCertificate
) -> None:
    good, bad = pair(clock), pair(clock)
    served.use(good)
    with pytest.raises(CertificateError, match="cannot be used: KEY_VALUES_MISMATCH"):
        served.use(replace(bad, key=good.key))
    assert served.pair == good
    assert shown(served.context) == der(good)


async def test_the_dates_decide_about_readiness(clock: RealDays, served: ServedCertificate) -> None:
    one = pair(clock)
    served.use(replace(one, not_before=one.not_before + 2 * DAY))
    assert (served.why_not_ready() or "").startswith("the certificate holds from ")
    clock.advance(2 * DAY * 1_000_000_000)
    assert served.why_not_ready() is None
    clock.advance(365 * DAY * 1_000_000_000)
    assert (served.why_not_ready() or "").startswith("the certificate has expired: its last second was ")


def test_a_key_is_not_shown() -> None:
    assert "PRIVATE" not in repr(CertificatePair(b"chain", b"PRIVATE KEY", 0, 1))


class Folder:
    """A certificate in two files."""

    def __init__(self, folder: Path) -> None:
        self.chain, self.key = folder / "tls.crt", folder / "tls.key"

    def write(self, one: CertificatePair) -> None:
        self.chain.write_bytes(one.chain)
        self.key.write_bytes(one.key)


async def test_files_that_change_are_read_again(clock: RealDays, served: ServedCertificate, tmp_path: Path) -> None:
    folder, first, second = Folder(tmp_path), pair(clock), pair(clock)
    files = CertificateFiles(folder.chain, folder.key, served, clock)
    folder.write(first)
    task = asyncio.create_task(files.run())
    await until(lambda: served.pair == first)
    # Between two writes: the chain is new, the key is not.
    folder.chain.write_bytes(second.chain)
    await until(lambda: bool(clock.pending()))
    clock.advance(LOOK_NS)
    await until(lambda: served.pair == first and bool(clock.pending()))
    folder.key.write_bytes(second.key)
    clock.advance(LOOK_NS)
    await until(lambda: served.pair == second)
    assert shown(served.context) == der(second)
    task.cancel()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "tls.crt: No such file or directory"),
        (b"", "tls.crt: the certificate is not PEM"),
        (b"-----BEGIN CERTIFICATE-----\nAAAAA\n-----END CERTIFICATE-----\n", "is not base64"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "x509: malformed certificate"),
        (b"x" * (1024 * 1024 + 1), "more than 1048576 bytes"),
    ],
)
async def test_files_that_are_no_certificate_get_one_line_with_the_path(
    clock: RealDays, served: ServedCertificate, tmp_path: Path, content: bytes | None, words: str
) -> None:
    folder = Folder(tmp_path)
    folder.write(pair(clock))
    if content is None:
        folder.chain.unlink()
    else:
        folder.chain.write_bytes(content)
    with pytest.raises(CertificateError) as raised:
        CertificateFiles(folder.chain, folder.key, served, clock).load()
    assert words in str(raised.value)
    assert str(folder.chain) in str(raised.value)


async def test_an_encrypted_key_asks_nobody_for_its_passphrase(
    clock: RealDays, served: ServedCertificate, tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    folder.write(pair(clock))
    folder.key.write_text(
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAAAAAAAAAAAAAAAAAAAA==\n"
        "-----END EC PRIVATE KEY-----\n"
    )
    with pytest.raises(CertificateError, match="cannot be used"):
        CertificateFiles(folder.chain, folder.key, served, clock).load()
    assert isinstance(served.context, ssl.SSLContext)
