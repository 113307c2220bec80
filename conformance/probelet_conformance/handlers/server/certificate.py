"""Certificates of the cases' servers. Probes verify none, so the keys may be public."""

from pathlib import Path

OURS = Path(__file__).parent / "certs"


def certificate(name: str, folder: Path) -> Path:
    """The file with certificate and key: in `certs` beside the case or one folder up, else one of probelet's own.

    Raises:
        ValueError: no certificate has that name.
    """
    for certs in (folder / "certs", folder.parent / "certs", OURS):
        if (found := certs / f"{name}.pem").is_file():
            return found
    raise ValueError(f"tls: cert: {name!r}: no {name}.pem in {folder / 'certs'}")
