"""Pod addresses: each sandbox gets its own loopback address, so that several pods can listen on the same port."""

from hashlib import blake2b

# 127.64.0.0/10 without addresses that end in 0 or 255. It does not overlap 127.0.0.0/16, where programs of the machine
# listen.
SECOND_FIRST, SECOND_COUNT = 64, 64
THIRD_COUNT = 256
LAST_FIRST, LAST_COUNT = 1, 254
ADDRESSES = SECOND_COUNT * THIRD_COUNT * LAST_COUNT


def address_at(index: int) -> str:
    """The address with the number ``index``, 0 to ``ADDRESSES`` - 1."""
    rest, last = divmod(index, LAST_COUNT)
    second, third = divmod(rest, THIRD_COUNT)
    return f"127.{SECOND_FIRST + second}.{third}.{LAST_FIRST + last}"


NODE_ADDRESS = "127.0.0.1"
"""The node's own address among those of its pods, and of a pod on the host's network."""


class AddressPool:
    """Allocates addresses; a key gets the same address each time unless it is taken.

    ``seed`` differs between the runtimes of a machine, so that their pods of the same name get different addresses.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._taken: set[str] = set()

    def allocate(self, key: str) -> str:
        """An address that is free in this pool. Raises LookupError if none is left."""
        digest = blake2b(f"{self._seed}\0{key}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
        preferred = int.from_bytes(digest, "big") % ADDRESSES
        for step in range(ADDRESSES):
            address = address_at((preferred + step) % ADDRESSES)
            if address not in self._taken:
                self._taken.add(address)
                return address
        raise LookupError("every pod address is taken")

    def release(self, address: str) -> None:
        """Returns an address to the pool; ignores one that is not allocated."""
        self._taken.discard(address)
