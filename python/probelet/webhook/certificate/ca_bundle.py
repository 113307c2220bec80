"""The caBundle of a MutatingWebhookConfiguration: the authorities by which the API server knows this server."""

import base64
import binascii

from probelet.kube.connection import Connection
from probelet.kube.kinds import MUTATING_WEBHOOKS
from probelet.webhook.certificate.pair import CertificateError, certificates, validity


async def trust(connection: Connection, configuration: str, authorities: bytes, now: int) -> bool:
    """Patches each webhook of the configuration that would not trust ``authorities`` (PEM); True if one had to be.

    Raises KubeError; Invalid if somebody else has changed the list of webhooks meanwhile.
    """
    found = await connection.get(MUTATING_WEBHOOKS, configuration)
    bundle = base64.b64encode(authorities).decode()
    operations: list[dict[str, str]] = []
    for index, webhook in enumerate(found.get("webhooks") or []):
        if not is_right((webhook.get("clientConfig") or {}).get("caBundle") or "", authorities, now):
            path = f"/webhooks/{index}"
            # Somebody else may have changed the list meanwhile: then the patch fails, and the next look repeats it.
            operations.append({"op": "test", "path": f"{path}/name", "value": webhook["name"]})
            operations.append({"op": "add", "path": f"{path}/clientConfig/caBundle", "value": bundle})
    if not operations:
        return False
    await connection.patch(MUTATING_WEBHOOKS, configuration, "", operations, type="json")
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
