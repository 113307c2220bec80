"""How filters are read: once for each profile and each runc, one at a time, and again a while after a failure."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from probelet.runtime.execs.direct import filters as module
from probelet.runtime.execs.direct.container import NO_FILTER, Filter
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.filters import FILTERS_MAX, Filters, runc_of

from tests.unit.runtime.execs.direct.example import INHERITED

PROFILE = b'{"defaultAction": "SCMP_ACT_ALLOW"}'
# Notes what it is asked for, then answers a filter that allows everything.
ANSWERS = r"""#!/bin/sh
folder=$(dirname "$0")
echo "$@" >> "$folder/asked"
cat > "$folder/specification"
printf '\004\000\000\000\006\000\000\000\000\000\377\177'
"""
FILTER = Filter(4, b"\x06\0\0\0\0\0\xff\x7f")


@pytest.fixture(autouse=True)
def runc(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The version of runc, which a test may replace."""
    version = [b"1"]
    monkeypatch.setattr(module, "runc_of", lambda shim: ("/usr/sbin/runc", version[0]))
    return version


def program(folder: Path, text: str = ANSWERS) -> Path:
    (folder / "enter").write_text(text)
    (folder / "enter").chmod(0o755)
    return folder / "enter"


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


async def test_a_container_without_a_profile_has_no_filter(tmp_path: Path) -> None:
    assert await Filters(tmp_path / "missing").filter_of(None, False, INHERITED) == NO_FILTER


async def test_runc_is_asked_once_for_each_profile_and_each_runc(tmp_path: Path, runc: list[bytes]) -> None:
    filters = Filters(program(tmp_path))
    found = await asyncio.gather(*(filters.filter_of(PROFILE, False, INHERITED) for _ in range(3)))
    assert found == [FILTER] * 3
    assert asked(tmp_path) == ["filter 28000 4000 /usr/sbin/runc"]
    await filters.filter_of(PROFILE, True, INHERITED)
    await filters.filter_of(PROFILE + b" ", True, INHERITED)
    assert len(asked(tmp_path)) == 3
    runc[0] = b"2"
    await filters.filter_of(PROFILE, False, INHERITED)
    assert len(asked(tmp_path)) == 4


async def test_runc_gets_the_profile_as_the_specification_has_it(tmp_path: Path) -> None:
    filters = Filters(program(tmp_path))
    for no_new_privileges in (False, True):
        await filters.filter_of(PROFILE, no_new_privileges, INHERITED)
        told: dict[str, Any] = json.loads((tmp_path / "specification").read_text())
        assert told["linux"]["seccomp"] == {"defaultAction": "SCMP_ACT_ALLOW"}
        assert told["process"]["noNewPrivileges"] is no_new_privileges


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "#!/bin/sh\necho 'runc create: no' >&2\nexit 1\n",
            "the filter cannot be read from /usr/sbin/runc: runc create: no",
        ),
        ("#!/bin/sh\nexit 3\n", "the filter cannot be read from /usr/sbin/runc: exit code 3"),
        ("#!/bin/sh\nprintf 12345\n", "the filter cannot be read from /usr/sbin/runc: exit code 0"),
        ("#!/no/such/interpreter\n", "No such file or directory"),
    ],
    ids=["a reason", "an exit code", "half an instruction", "no program"],
)
async def test_a_filter_that_cannot_be_had_leaves_the_container_to_the_runtime(
    tmp_path: Path, text: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = Filters(program(tmp_path, text))
    for _ in range(2):
        with pytest.raises(FallbackError) as raised:
            await filters.filter_of(PROFILE, False, INHERITED)
        assert raised.value.reason is Reason.SECCOMP
        assert why in raised.value.detail
        # The failure is kept for a while.
        program(tmp_path)
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    filters = Filters(program(tmp_path, text))
    with pytest.raises(FallbackError):
        await filters.filter_of(PROFILE, False, INHERITED)
    program(tmp_path)
    # The timer of no length has to come first.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await filters.filter_of(PROFILE, False, INHERITED) == FILTER


async def test_filters_are_kept_up_to_a_bound(tmp_path: Path) -> None:
    filters = Filters(program(tmp_path))
    for number in range(FILTERS_MAX + 1):
        await filters.filter_of(b"%d" % number, False, INHERITED)
    assert len(filters._known) == FILTERS_MAX
    await filters.filter_of(b"0", False, INHERITED)
    assert len(asked(tmp_path)) == FILTERS_MAX + 2


@pytest.fixture
def own_path(tmp_path: Path) -> Path:
    """A folder with a program that is named runc."""
    (tmp_path / "runc").write_text("#!/bin/sh\n")
    (tmp_path / "runc").chmod(0o755)
    return tmp_path


async def shim(path: str) -> asyncio.subprocess.Process:
    """A process with a PATH. It has answered, because the kernel shows an empty environment while a program begins."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec("/bin/cat", stdin=pipe, stdout=pipe, env={"PATH": path})
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n")
    assert await process.stdout.readline() == b"\n"
    return process


async def test_runc_is_the_one_that_the_shim_finds(own_path: Path) -> None:
    process = await shim(f"/nonexistent:{own_path}:/usr/sbin")
    try:
        found, version = runc_of(process.pid)
        assert found == f"{own_path}/runc"
        os.utime(own_path / "runc", (1, 1))
        assert runc_of(process.pid)[1] != version
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("path", ["", "relative:/usr/sbin", "/nonexistent"])
async def test_a_runc_that_the_shim_does_not_find_is_nobodys(path: str) -> None:
    process = await shim(path)
    try:
        with pytest.raises(FallbackError, match="is not in the runtime's PATH"):
            runc_of(process.pid)
    finally:
        process.kill()
        await process.wait()


def test_a_shim_that_has_ended_calls_no_runc() -> None:
    with pytest.raises(FallbackError, match="runc cannot be found"):
        runc_of(2**22 - 1)
