"""A certificate in two files, which somebody else renews: a Secret's volume, or cert-manager through it."""

import asyncio
from pathlib import Path
from typing import Final

from probelet.kube.clock import Clock
from probelet.webhook.certificate.pair import PEM_BYTES_MAX, CertificateError, CertificatePair
from probelet.webhook.certificate.served import ServedCertificate

LOOK_NS: Final = 10_000_000_000
"""How often the files are read. A kubelet renews a Secret's volume within a minute or so, and certificates overlap."""


class CertificateFiles:
    """The certificate in the file ``chain``, with its key in the file ``key``, both PEM."""

    def __init__(self, chain: Path, key: Path, served: ServedCertificate, clock: Clock) -> None:
        self._chain = chain
        self._key = key
        self._served = served
        self._clock = clock

    def read(self) -> CertificatePair:
        """Reads both files. Raises CertificateError, one line with the path."""
        chain, key = _content(self._chain), _content(self._key)
        try:
            return CertificatePair.read(chain, key)
        except CertificateError as error:
            raise CertificateError(f"{self._chain}: {error}") from None

    def load(self) -> None:
        """Takes the files' certificate into use if it has changed. Raises CertificateError with the path."""
        pair = self.read()
        try:
            self._served.use(pair)
        except CertificateError as error:
            raise CertificateError(f"{self._chain}, {self._key}: {error}") from None

    async def run(self) -> None:
        """Reads the files again and again; never returns. Of a pair that is half written the old one stays in use."""
        while True:
            try:
                await asyncio.to_thread(self.read)
                self.load()
                self._served.recovered()
            except CertificateError as error:
                self._served.failed(str(error))
            await self._clock.sleep(LOOK_NS)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(PEM_BYTES_MAX + 1)
    except OSError as error:
        raise CertificateError(f"{path}: {error.strerror}") from None
    if len(content) > PEM_BYTES_MAX:
        raise CertificateError(f"{path}: more than {PEM_BYTES_MAX} bytes")
    return content
