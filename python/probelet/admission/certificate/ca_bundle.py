"""The caBundle of a MutatingWebhookConfiguration: the authorities by which the API server knows this server."""

import base64
import binascii
from typing import Any

from probelet.admission.certificate.pair import CertificateError, certificates, validity
from probelet.kube.connection import Connection
from probelet.kube.kinds import MUTATING_WEBHOOKS


async def trust(connection: Connection, configuration: str, authorities: bytes, now: int) -> bool:
    """Patches each webhook of the configuration that would not trust ``authorities`` (PEM); True if one had to be.

    Raises KubeError; Conflict if somebody else has changed the configuration meanwhile.
    """
    found = await connection.get(MUTATING_WEBHOOKS, configuration)
    bundle = base64.b64encode(authorities).decode()
    wrong = [
        {"name": webhook["name"], "clientConfig": {"caBundle": bundle}}
        for webhook in found.get("webhooks") or []
        if not is_right((webhook.get("clientConfig") or {}).get("caBundle") or "", authorities, now)
    ]
    if not wrong:
        return False
    # With the version a webhook that was removed meanwhile is a conflict, not half a webhook.
    body: dict[str, Any] = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "webhooks": wrong}
    await connection.patch(MUTATING_WEBHOOKS, configuration, "", body, type="strategic")
    return True


def is_right(bundle: str, authorities: bytes, now: int) -> bool:
    """True if a caBundle (base64) has all of ``authorities``, and nothing else but authorities that hold at ``now``.

    Others may be there because a replica that read the Secret a moment later has added a new one: taking it away again
    would break that replica.
    """
    try:
        present = set(certificates(base64.b64decode(bundle, validate=True)))
        others = present - set(certificates(authorities))
        return present >= set(certificates(authorities)) and all(validity(one)[1] >= now for one in others)
    except (CertificateError, binascii.Error, ValueError):
        return False
