"""The limits of the webhook's server."""

from typing import Final

CONNECTIONS_MAX: Final = 512
"""Connections in all. An API server has one for each request in flight, because this server speaks HTTP/1.1."""

PEER_CONNECTIONS_MAX: Final = 256
"""Connections of one address. A rollout of 500 pods is 20 requests at once; a proxy may stand before all servers."""

BODY_BYTES_MAX: Final = 7 * 1024 * 1024
"""Bytes of one review: an API server takes objects of 3 MiB (apiserver ``MaxRequestBodyBytes``, 1.36), and a review may
hold an object twice."""

LARGE_BODY_BYTES: Final = 128 * 1024
"""Pods are smaller. Larger bodies share ``LARGE_BODIES_BYTES_MAX``."""

LARGE_BODIES_BYTES_MAX: Final = 4 * BODY_BYTES_MAX
"""Bytes of all large bodies that are arriving. So hostile clients with a connection each cannot take more than 100 MiB,
the small bodies included."""

REQUEST_BYTES_MAX: Final = BODY_BYTES_MAX + 32 * 1024
"""Bytes that a connection sends before its answer: a review and its head."""

WARNINGS_BYTES_MAX: Final = 4096
"""The API server shortens the warnings of a response that have more (admission/v1 ``AdmissionResponse.warnings``)."""

DRAIN_SECONDS: Final = 5.0
"""How long the server answers after a signal to end: until every API server has learned that this replica is gone, and
sends its requests to another one. Each answer then closes its connection."""

ANSWERS_SECONDS: Final = 5.0
"""How long the end waits for requests in flight: after that the API server has given them up (``timeoutSeconds``)."""
