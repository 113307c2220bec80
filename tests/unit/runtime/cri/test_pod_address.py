"""Pod addresses of the embedded runtime."""

from ipaddress import ip_address, ip_network

import pytest
from probelet.runtime.embedded.pod import address
from probelet.runtime.embedded.pod.address import ADDRESSES, AddressPool, address_at


def test_the_same_pod_gets_the_same_address_again() -> None:
    pool = AddressPool("root")
    first = pool.allocate("default/web")
    pool.release(first)
    assert pool.allocate("default/web") == first == AddressPool("root").allocate("default/web")


def test_no_two_pods_share_an_address() -> None:
    pool = AddressPool("root")
    assert len({pool.allocate(f"default/web-{number}") for number in range(5_000)}) == 5_000


def test_a_taken_address_leads_to_the_next_one() -> None:
    pool = AddressPool("root")
    assert len({pool.allocate("default/web") for _ in range(3)}) == 3


def test_runtimes_with_other_roots_give_the_same_pod_other_addresses() -> None:
    assert AddressPool("one").allocate("default/web") != AddressPool("two").allocate("default/web")


@pytest.mark.parametrize("index", [0, 1, 253, 254, 255, 65_023, 65_024, ADDRESSES - 1])
def test_addresses_stay_in_their_range(index: int) -> None:
    found = ip_address(address_at(index))
    assert found in ip_network("127.64.0.0/10")
    assert found.packed[3] not in (0, 255)


def test_every_number_is_another_address() -> None:
    assert len({address_at(index) for index in range(0, ADDRESSES, 61)}) == len(range(0, ADDRESSES, 61))


def test_a_full_range_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "ADDRESSES", 2)
    pool = AddressPool("root")
    assert {pool.allocate("a"), pool.allocate("a")} == {address_at(0), address_at(1)}
    with pytest.raises(LookupError, match="every pod address is taken"):
        pool.allocate("b")
