"""Container IDs as Kubernetes writes them, ``type://id``, and as a runtime knows them."""


def bare_id(container_id: str) -> str:
    """The ID that the runtime itself uses: ``type://id`` without its type."""
    return container_id.partition("://")[2]
