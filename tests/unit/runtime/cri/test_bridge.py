"""The bridge of one runtime: the range of private addresses for its pods, and what it needs."""

import os
import shutil
from ipaddress import IPv4Network
from pathlib import Path
from typing import cast

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.embedded.host import Host
from probelet.runtime.embedded.isolation.address_range import CANDIDATES, choose, routes
from probelet.runtime.embedded.isolation.bridge import Bridge, make_bridge
from probelet.runtime.embedded.isolation.ip_command import IsolationError, ip
from probelet.runtime.embedded.isolation.namespaces import NamespaceNetworks

from tests.support.other_user import as_other_user

needs_ip = pytest.mark.skipif(not shutil.which("ip"), reason="needs the program ip (package iproute2)")

TABLE = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
tun0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
"""


def test_routes_without_the_default_route(tmp_path: Path) -> None:
    (tmp_path / "route").write_text(TABLE)
    assert routes(tmp_path / "route") == [IPv4Network("192.0.2.0/24"), IPv4Network("10.0.0.0/8")]


def test_a_range_overlaps_no_route() -> None:
    first = choose("/run/a", [])
    assert choose("/run/a", []) == first
    assert choose("/run/b", []) != first
    assert first.subnet_of(CANDIDATES[0])
    assert not choose("/run/a", [first.supernet(new_prefix=20)]).overlaps(first.supernet(new_prefix=20))
    assert choose("/run/a", [IPv4Network("10.0.0.0/8")]).subnet_of(CANDIDATES[1])
    with pytest.raises(LookupError, match="this machine has routes to every /22 of 10"):
        choose("/run/a", CANDIDATES)


@needs_ip
async def test_a_pod_for_which_the_bridge_has_no_address_gets_no_network() -> None:
    networks = NamespaceNetworks(cast(Host, None), Bridge("abcdef", IPv4Network("10.213.0.0/31")))
    with pytest.raises(errors.ResourceExhausted, match="the bridge takes no more"):
        await networks.attach("default/web")


@needs_ip
def test_without_root_one_line_says_what_is_needed(tmp_path: Path) -> None:
    def make() -> None:
        with pytest.raises(IsolationError, match=r"^--isolate namespace: needs root with CAP_SYS_ADMIN"):
            make_bridge(tmp_path)

    if os.geteuid() == 0:
        as_other_user(make)
    else:
        make()


@needs_ip
def test_what_ip_refuses_is_one_line_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IsolationError, match=r"^--isolate namespace: ip link show none: [^\n]+$"):
        ip("link", "show", "none")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(IsolationError, match="needs the program ip"):
        ip("link", "show", "none")
