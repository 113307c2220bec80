"""Limits in the configuration that the runtime gets."""

from typing import Any

from probelet.node.effects.linux.host import Host
from probelet.node.effects.linux.resources import container_resources
from probelet.runtime.cri.v1 import api_pb2

from tests.unit.node.effects.linux.pods import pod_of

HOST = Host(huge_page_sizes=("1GB", "2MB"))


def limits_of(**resources: Any) -> api_pb2.LinuxContainerResources:
    pod = pod_of({"resources": resources})
    return container_resources(pod, pod.spec.containers[0], HOST)


def test_cpu_and_memory_become_shares_a_quota_and_a_limit() -> None:
    found = limits_of(limits={"cpu": "500m", "memory": "64Mi"}, requests={"cpu": "250m"})
    assert (found.cpu_shares, found.cpu_period, found.cpu_quota) == (256, 100_000, 50_000)
    assert found.memory_limit_in_bytes == 64 * 2**20


def test_a_cpu_limit_is_also_the_request_and_without_both_no_share_is_set() -> None:
    assert limits_of(limits={"cpu": 2}).cpu_shares == 2048
    found = limits_of(limits={"cpu": "1m"})
    assert (found.cpu_shares, found.cpu_quota) == (2, 1000)
    found = limits_of()
    assert (found.cpu_shares, found.cpu_period, found.cpu_quota, found.memory_limit_in_bytes) == (0, 0, 0, 0)


def test_a_limit_below_one_byte_is_a_limit() -> None:
    # "64m" is what a person writes who means 64M; 0 would be no limit.
    assert limits_of(limits={"memory": "64m"}).memory_limit_in_bytes == 1


def test_a_container_gets_only_the_huge_pages_that_it_asks_for() -> None:
    found = limits_of(
        limits={"hugepages-2Mi": "4Mi", "hugepages-": "1", "hugepages-none": "1", "hugepages-64Ki": "1Mi"}
    )
    assert [(limit.page_size, limit.limit) for limit in found.hugepage_limits] == [("1GB", 0), ("2MB", 4 * 2**20)]
    assert [limit.limit for limit in limits_of().hugepage_limits] == [0, 0]
