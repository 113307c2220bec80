"""Which seccomp profiles a filter of runc's stands for as a whole."""

import json
from typing import Any

import msgspec
import pytest
from probelet.runtime.execs.direct.fallback import FallbackError, Reason
from probelet.runtime.execs.direct.profile import profile_of

PROFILE: dict[str, Any] = {
    "defaultAction": "SCMP_ACT_ERRNO",
    "defaultErrnoRet": 38,
    "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
    "flags": ["SECCOMP_FILTER_FLAG_LOG"],
    "syscalls": [
        {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
        {
            "names": ["personality"],
            "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 0, "value": 8, "valueTwo": 1, "op": "SCMP_CMP_MASKED_EQ"}],
        },
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
    ],
}


def raw(profile: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(profile).encode())


def test_a_profile_goes_to_runc_byte_by_byte() -> None:
    text = json.dumps(PROFILE, indent=1).encode()
    assert profile_of(msgspec.Raw(text)) == text


def test_no_profile_is_no_filter() -> None:
    assert profile_of(msgspec.Raw(b"null")) is None


@pytest.mark.parametrize(
    "change",
    [
        {"defaultAction": "SCMP_ACT_NOTIFY"},
        {"syscalls": [{"names": ["mount"], "action": "SCMP_ACT_NOTIFY"}]},
        {"listenerPath": "/run/listener.sock"},
        {"listenerMetadata": "who"},
        {"defaultAction": "SCMP_ACT_ASK_A_NEWER_KERNEL"},
        {"flags": ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]},
        {"aFieldOfTheFuture": True},
        {"syscalls": [{"names": ["mount"], "action": "SCMP_ACT_ALLOW", "aFieldOfTheFuture": 1}]},
        {"syscalls": "every"},
    ],
    ids=str,
)
def test_what_is_more_than_a_filter_goes_over_the_runtime(change: dict[str, Any]) -> None:
    with pytest.raises(FallbackError) as raised:
        profile_of(raw(PROFILE | change))
    assert raised.value.reason is Reason.SECCOMP
    assert raised.value.detail.startswith("linux.seccomp")
