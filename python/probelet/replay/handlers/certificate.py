"""Certificates that the cases' servers show. Nobody ever looks at them, so what is here may well be public."""

from pathlib import Path

OURS = Path(__file__).parent / "certs"


def certificate(name: str, folder: Path) -> Path:
    """The file with certificate and key: in `certs` beside the case or one folder up, else one of probelet's own.

    Raises:
        ValueError: there is none of that name.
    """
    for certs in (folder / "certs", folder.parent / "certs", OURS):
        if (found := certs / f"{name}.pem").is_file():
            return found
    raise ValueError(f"tls: cert: {name!r}: no {name}.pem in {folder / 'certs'}")
