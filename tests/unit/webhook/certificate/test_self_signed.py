"""Replicas share one Secret and keep the caBundle right, on an API server behind real HTTP."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import pytest_asyncio
from probelet.kube.kinds import MUTATING_WEBHOOKS, SECRETS
from probelet.webhook.certificate.authority import AUTHORITY_SECONDS, SERVER_SECONDS, Kept, renewed
from probelet.webhook.certificate.pair import certificates
from probelet.webhook.certificate.self_signed import LOOK_NS, REST_NS, SETTLE_NS

from tests.support.kube_api import Answer, Delay, KubeApi
from tests.unit.kube.virtual_clock import until
from tests.unit.webhook.certificate.rig import (
    CONFIGURATION,
    DAY,
    HOSTS,
    NAMESPACE,
    SECRET,
    RealDays,
    Replica,
    bundles,
    configure,
    kept,
    put,
    secret,
)


@pytest_asyncio.fixture
async def api() -> AsyncIterator[KubeApi]:
    async with KubeApi() as api:
        yield api


@pytest_asyncio.fixture
async def clock() -> RealDays:
    return RealDays()


@asynccontextmanager
async def running(*replicas: Replica) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(replica.self_signed.run()) for replica in replicas]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        for replica in replicas:
            await replica.connection.aclose()


async def looked(clock: RealDays, count: int = 1) -> None:
    """Waits until so many replicas have looked, and wait for their next look."""
    await until(lambda: len(clock.pending()) >= count)


def made(clock: RealDays, ago_seconds: int = 0) -> Kept:
    found = renewed(None, HOSTS, clock.wall_ns() // 1_000_000_000 - ago_seconds)
    assert found is not None
    return found[0]


async def test_the_first_replica_makes_the_secret_and_the_bundle(api: KubeApi, clock: RealDays) -> None:
    configure(api, probes=None, other="AAAA")
    replica = Replica(api, clock)
    assert replica.served.why_not_ready() == "no certificate yet: it is being made or read"
    async with running(replica):
        await looked(clock)
        assert replica.served.why_not_ready() is None
    assert secret(api)["type"] == "kubernetes.io/tls"
    assert replica.chain == kept(api).pair.chain
    assert bundles(api) == {"probes": kept(api).authorities, "other": kept(api).authorities}
    assert (replica.metrics.loads, replica.metrics.ca_patches) == (1, 1)


async def test_the_loser_of_a_race_reads_what_the_winner_wrote(api: KubeApi, clock: RealDays) -> None:
    configure(api, probes=None)
    over = asyncio.Event()
    api.faults.add(Delay(over), verb="create", plural="secrets", times=1)
    late, early = Replica(api, clock), Replica(api, clock)
    async with running(late):
        # The first one has found no Secret, and its request to create one is under way.
        await api.until(lambda: api.seen("create", "secrets") == 1)
        async with running(early):
            await looked(clock)
            over.set()
            await until(lambda: late.served.pair is not None)
    assert late.chain == early.chain == kept(api).pair.chain
    assert api.seen("create", "secrets") == 2


async def test_nothing_is_listed_or_watched(api: KubeApi, clock: RealDays) -> None:
    configure(api, probes=None)
    async with running(Replica(api, clock)):
        await looked(clock)
    assert {verb for verb, _ in api.requests} == {"get", "create", "patch"}
    paths = {path for verb, path in api.requests if verb != "create"}
    assert {path.rsplit("/", 1)[1] for path in paths} == {SECRET, CONFIGURATION}


async def test_a_bundle_that_somebody_overwrites_is_right_again_after_the_next_look(
    api: KubeApi, clock: RealDays
) -> None:
    configure(api, probes=None)
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        configure(api, probes=None)
        clock.advance(LOOK_NS)
        await until(lambda: replica.metrics.ca_patches == 2)
    assert bundles(api)["probes"] == kept(api).authorities


async def test_a_webhook_that_somebody_adds_gets_its_bundle_at_once_and_a_contest_has_pauses(
    api: KubeApi, clock: RealDays
) -> None:
    configure(api, probes=None)
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        clock.advance(REST_NS)
        configure(api, probes=None, added=None)
        replica.self_signed.changed()
        await until(lambda: replica.metrics.ca_patches == 2)
        assert bundles(api) == dict.fromkeys(("probes", "added"), kept(api).authorities)
        # Another program takes it away again at once.
        await looked(clock)
        configure(api, probes=None)
        replica.self_signed.changed()
        await until(lambda: clock.sleeps(REST_NS))
        assert replica.metrics.ca_patches == 2
        clock.advance(REST_NS)
        await until(lambda: replica.metrics.ca_patches == 3)


async def test_a_look_at_what_is_right_changes_nothing(api: KubeApi, clock: RealDays) -> None:
    configure(api, probes=None)
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        before = (secret(api), api.get(MUTATING_WEBHOOKS, CONFIGURATION))
        for _ in range(3):
            clock.advance(LOOK_NS)
            await looked(clock)
        assert (secret(api), api.get(MUTATING_WEBHOOKS, CONFIGURATION)) == before
    assert (replica.metrics.loads, replica.metrics.failures) == (1, 0)


async def test_a_certificate_is_renewed_before_it_ends_and_the_other_replica_takes_it(
    api: KubeApi, clock: RealDays
) -> None:
    configure(api, probes=None)
    old = made(clock, SERVER_SECONDS * 2 // 3 + DAY)
    put(api, old)
    one, two = Replica(api, clock), Replica(api, clock)
    async with running(one, two):
        await looked(clock, 2)
        clock.advance(LOOK_NS)
        await looked(clock, 2)
    new = kept(api)
    assert new.pair.not_after > old.pair.not_after
    assert one.chain == two.chain == new.pair.chain
    # The authority has not changed, and what others wrote on the Secret stays.
    assert bundles(api)["probes"] == old.authorities == new.authorities
    assert secret(api)["metadata"]["labels"] == {"a": "b"}


async def test_a_certificate_of_a_new_authority_waits_until_the_api_server_trusts_it(
    api: KubeApi, clock: RealDays
) -> None:
    old = made(clock)
    put(api, old)
    configure(api, probes=None)
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        put(api, made(clock, AUTHORITY_SECONDS - 2 * SERVER_SECONDS + DAY))
        clock.advance(LOOK_NS)
        await until(lambda: clock.sleeps(SETTLE_NS))
        new = kept(api)
        assert len(certificates(new.authorities)) == 2
        assert bundles(api)["probes"] == new.authorities
        assert replica.chain == old.pair.chain
        clock.advance(SETTLE_NS)
        await until(lambda: replica.chain == new.pair.chain)


async def test_a_replica_that_read_earlier_does_not_take_a_new_authority_away(api: KubeApi, clock: RealDays) -> None:
    put(api, made(clock))
    both = kept(api).authorities + made(clock).authorities
    configure(api, probes=base64.b64encode(both).decode())
    async with running(Replica(api, clock)):
        await looked(clock)
    assert bundles(api)["probes"] == both
    assert api.seen("patch") == 0


@pytest.mark.parametrize("garbage", [{}, {"tls.crt": "!"}, {"ca.crt": "", "ca.key": "", "tls.crt": "", "tls.key": ""}])
async def test_a_secret_that_cannot_be_read_is_written_again(
    api: KubeApi, clock: RealDays, garbage: dict[str, str]
) -> None:
    configure(api, probes=None)
    api.put(SECRETS, {"metadata": {"name": SECRET, "namespace": NAMESPACE}, "type": "Opaque", "data": garbage})
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
    assert replica.chain == kept(api).pair.chain
    # The type of a Secret cannot change.
    assert secret(api)["type"] == "Opaque"


async def test_missing_rights_are_said_by_verb_and_resource(
    api: KubeApi, clock: RealDays, capsys: pytest.CaptureFixture[str]
) -> None:
    message = 'User "system:serviceaccount:probelet-system:probelet-webhook" cannot get resource "secrets"'
    api.faults.add(Answer(403, message, "Forbidden"), verb="get", plural="secrets", times=2)
    configure(api, probes=None)
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        why = replica.served.why_not_ready() or ""
        assert f"get secrets {NAMESPACE}/{SECRET}: Forbidden: {message}" in why
        clock.advance(max(clock.pending()))
        await looked(clock)
        clock.advance(max(clock.pending()))
        await looked(clock)
        assert replica.served.why_not_ready() is None
    assert replica.metrics.failures == 2
    # The same trouble twice is one line of the log.
    assert capsys.readouterr().out.count("no new certificate") == 1


async def test_without_the_configuration_the_certificate_serves_and_the_trouble_is_said(
    api: KubeApi, clock: RealDays, capsys: pytest.CaptureFixture[str]
) -> None:
    replica = Replica(api, clock)
    async with running(replica):
        await looked(clock)
        assert replica.served.why_not_ready() is None
        assert f"get mutatingwebhookconfigurations.admissionregistration.k8s.io {CONFIGURATION}: NotFound" in (
            capsys.readouterr().out
        )
        configure(api, probes=None)
        clock.advance(max(clock.pending()))
        await until(lambda: bundles(api)["probes"] == kept(api).authorities)


async def test_retry_after_is_kept(api: KubeApi, clock: RealDays) -> None:
    answer = Answer(429, "later", "TooManyRequests", headers={"Retry-After": "120"})
    api.faults.add(answer, verb="get", plural="secrets", times=1)
    async with running(Replica(api, clock)):
        await looked(clock)
        assert clock.pending()[0] >= 120_000_000_000


async def test_without_a_configuration_bundles_are_left_alone(api: KubeApi, clock: RealDays) -> None:
    configure(api, probes="AAAA")
    replica = Replica(api, clock, None)
    async with running(replica):
        await looked(clock)
    assert replica.served.why_not_ready() is None
    assert api.seen("patch") == 0
