"""What probelet tells the helper of a container, and every container that goes over the runtime instead."""

import struct

import msgspec.structs
import pytest
from probelet.runtime.execs.direct.container import Bounds, Filter
from probelet.runtime.execs.direct.fallback import REFUSALS, STEPS, Reason

from tests.support.paths import ROOT
from tests.unit.runtime.execs.direct.example import BOUNDS, ID, INFINITE, INFO, INHERITED, changed, description, refusal

SPEC = "runtimeSpec"


def test_a_usual_container_in_the_helpers_form() -> None:
    expected = [
        struct.pack("<I", 64) + ID.encode(),
        struct.pack("<iQi", 28290, 4711, 0x20000000 | 0x00020000 | 0x40000000),
        struct.pack("<III", 1000, 2000, 0o22),
        struct.pack("<iiB", 1000, 0, 1),
        struct.pack("<5Q", 1 << 0 | 1 << 5, 0, 1 << 0, 0, 0),
        struct.pack("<32Q", *(1024, 4096) * 16),
        struct.pack("<3I", 2, 2000, 3000),
        struct.pack("<I", 4) + b"/srv",
        struct.pack("<II", 2, 9) + b"PATH=/bin" + struct.pack("<I", 13) + b"HOSTNAME=bare",
        struct.pack("<II", 0, 0),
    ]
    assert description(INFO) == b"".join(expected)


def test_the_specification_comes_before_what_a_process_inherits() -> None:
    info = changed(f"{SPEC}.process.rlimits", [{"type": "RLIMIT_NOFILE", "soft": 7, "hard": 8}])
    info[SPEC]["process"]["user"]["umask"] = 0o77
    found = description(info, inherited=msgspec.structs.replace(INHERITED, nice=-5))
    assert struct.pack("<III", 1000, 2000, 0o77) in found
    assert struct.pack("<ii", 1000, -5) in found
    assert struct.pack("<8Q", *(1024, 4096) * 2, 1024, 4096, 7, 8)[32:] in found


def test_a_filter_ends_the_description() -> None:
    allow = struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000)
    found = description(INFO, seccomp=Filter(4, allow))
    assert found == description(INFO)[:-8] + struct.pack("<II", 4, 8) + allow


FIELDS = {
    # Objects of a newer specification, at every level.
    "ioPriority": (f"{SPEC}.process.ioPriority", {"class": "IOPRIO_CLASS_IDLE", "priority": 4}),
    "scheduler": (f"{SPEC}.process.scheduler", {"policy": "SCHED_FIFO"}),
    "execCPUAffinity": (f"{SPEC}.process.execCPUAffinity", {"initial": "0"}),
    "personality": (f"{SPEC}.linux.personality", {"domain": "LINUX32"}),
    "intelRdt": (f"{SPEC}.linux.intelRdt", {"closID": "guaranteed"}),
    "timeOffsets": (f"{SPEC}.linux.timeOffsets", {"boottime": {"secs": 1}}),
    "memoryPolicy": (f"{SPEC}.linux.memoryPolicy", {"mode": "MPOL_BIND"}),
    "vm": (f"{SPEC}.vm", {"kernel": {"path": "/vmlinuz"}}),
    "a field of the future": (f"{SPEC}.process.user.landlock", {}),
    "a set of the future": (f"{SPEC}.process.capabilities.locked", []),
    # Values that are none of the specification's.
    "a time namespace": (f"{SPEC}.linux.namespaces", [{"type": "mount"}, {"type": "time"}]),
    "a limit of the future": (f"{SPEC}.process.rlimits", [{"type": "RLIMIT_NEW", "soft": 1, "hard": 1}]),
    "a soft limit above the hard one": (f"{SPEC}.process.rlimits", [{"type": "RLIMIT_AS", "soft": 2, "hard": 1}]),
    "a negative limit": (f"{SPEC}.process.rlimits", [{"type": "RLIMIT_AS", "soft": -1, "hard": 1}]),
    "a user below zero": (f"{SPEC}.process.user.uid", -1),
    "a user that is no number": (f"{SPEC}.process.user.uid", "root"),
    "a score out of range": (f"{SPEC}.process.oomScoreAdj", 1001),
    "no score": (f"{SPEC}.process.oomScoreAdj", None),
    "a NUL in the environment": (f"{SPEC}.process.env", ["A=\0"]),
    "version 2": (f"{SPEC}.ociVersion", "2.0.0"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_not_understood_goes_over_the_runtime(name: str) -> None:
    reason, detail = refusal(changed(*FIELDS[name]))
    assert reason is Reason.SPECIFICATION
    assert detail


OTHERS = {
    "AppArmor": (Reason.LABEL, f"{SPEC}.process.apparmorProfile", "cri-containerd.apparmor.d"),
    "SELinux": (Reason.LABEL, f"{SPEC}.process.selinuxLabel", "system_u:system_r:container_t:s0:c1,c2"),
    "the label of its mounts": (Reason.LABEL, f"{SPEC}.linux.mountLabel", "system_u:object_r:container_file_t:s0"),
    "mapped users": (Reason.USER_NAMESPACE, f"{SPEC}.linux.uidMappings", [{"containerID": 0, "hostID": 1, "size": 1}]),
    "mapped groups": (Reason.USER_NAMESPACE, f"{SPEC}.linux.gidMappings", [{"containerID": 0, "hostID": 1, "size": 1}]),
    "a user namespace": (Reason.USER_NAMESPACE, f"{SPEC}.linux.namespaces", [{"type": "mount"}, {"type": "user"}]),
    "a capability of the future": (Reason.CAPABILITIES, f"{SPEC}.process.capabilities", {"bounding": ["CAP_NEW"]}),
    "no capabilities": (Reason.CAPABILITIES, f"{SPEC}.process.capabilities", None),
    "Kata": (Reason.RUNTIME, "runtimeType", "io.containerd.kata.v2"),
    "gVisor": (Reason.RUNTIME, "runtimeType", "io.containerd.runsc.v1"),
    "crun": (Reason.RUNTIME, "runtimeOptions", {"binary_name": "/usr/bin/crun"}),
    "no keyring": (Reason.RUNTIME, "runtimeOptions", {"no_new_keyring": True}),
    "no process": (Reason.IDENTITY, "pid", 0),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_reproduced_goes_over_the_runtime(name: str) -> None:
    reason, path, value = OTHERS[name]
    assert refusal(changed(path, value))[0] is reason


@pytest.mark.parametrize("text", ["", "no JSON", "{}", "[]"])
def test_a_runtime_that_describes_no_container_runs_its_commands_itself(text: str) -> None:
    from probelet.runtime.execs.direct.container import container_info
    from probelet.runtime.execs.direct.fallback import FallbackError

    with pytest.raises(FallbackError) as raised:
        container_info(text)
    assert raised.value.reason is Reason.RUNTIME


def test_null_and_absent_are_the_same() -> None:
    for path in ("linux.seccomp", "linux.uidMappings", "process.rlimits", "hooks"):
        assert description(changed(f"{SPEC}.{path}", None)) == description(INFO)


def test_a_container_that_has_more_than_the_helper_goes_over_the_runtime() -> None:
    assert refusal(INFO, bounds=Bounds(1 << 0, BOUNDS.limits))[0] is Reason.CAPABILITIES
    low = (INFINITE,) * 7 + (4095,) + (INFINITE,) * 8
    without_resource = BOUNDS.capabilities & ~(1 << 24)
    reason, detail = refusal(INFO, bounds=Bounds(without_resource, low))
    assert (reason, detail) == (Reason.LIMITS, "RLIMIT_NOFILE 4096 is above the helper's")
    # With CAP_SYS_RESOURCE the helper can raise it.
    assert description(INFO, bounds=Bounds(BOUNDS.capabilities, low)) == description(INFO)


def test_the_helpers_numbers_have_their_names_here() -> None:
    source = (ROOT / "rust" / "enter-protocol" / "src" / "answer.rs").read_text()
    _, refusals, steps = source.split("#[repr(u8)]")
    names = [line.split(" = ") for line in refusals.split("}")[0].splitlines() if " = " in line]
    assert {int(number.rstrip(",")): name.strip().lower() for name, number in names} == {
        number: str(reason) for number, reason in REFUSALS.items()
    }
    assert len(STEPS) == steps.split("}")[0].count(" = ")
