"""A command that the helper starts is confined as one that the runtime starts: line by line, in every context."""

import re
from pathlib import Path

import pytest

from tests.system.containerd.direct.both import Both, specification
from tests.system.containerd.direct.pods import CONFINED, PROFILED, TEN
from tests.system.containerd.machine import Containerd

pytestmark = pytest.mark.e2e

# What is another number for every process, or in every moment.
VARIES = "Tgid|Pid|PPid|Ngid|NS[a-z]*|Vm[A-Za-z]*|Rss[A-Za-z]*|SigQ|[a-z]*voluntary_ctxt_switches|TracerPid"

FACTS = f"""
grep -vE '^({VARIES}):' /proc/self/status
# Without the leaf of version 2 (docs/kubelet-parity.md).
sed -E '/^0::/s#/probelet-[0-9]+$##' /proc/self/cgroup
cat /proc/self/limits /proc/self/uid_map /proc/self/gid_map /proc/self/oom_score_adj
for file in attr/current attr/exec loginuid sessionid personality coredump_filter timerslack_ns; do
  echo "$file: $(cat /proc/self/$file 2>&1)"
done
for name in cgroup ipc mnt net pid pid_for_children time time_for_children user uts; do
  readlink /proc/self/ns/$name
done
cat /proc/self/mountinfo
# The session keyrings of other containers come and go.
awk '/keyring +_ses[.]/ && !/_ses[.]CONTAINER:/ {{ next }} {{ $3 = "uses"; print }}' /proc/keys 2>&1
env | sort
pwd; readlink /proc/self/cwd /proc/self/root; umask; id
awk '{{print "priority", $18, "nice", $19, "flags", $9 % 64, "policy", $41, "rt", $40, "tty", $7, $8}}' /proc/self/stat
stat -L -c '%u %g %a %F' /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2
ls -l /proc/self/fd | awk 'NF > 2 {{print $1, $3, $(NF - 2), $NF}}' |
  sed -E 's/pipe:.[0-9]+./pipe/; s#/proc/[0-9]+/fd#fd#'
for fd in 0 1 2; do grep flags /proc/self/fdinfo/$fd; done
[ $(awk '{{print $6}}' /proc/self/stat) = $(awk '{{print $5}}' /proc/self/stat) ] && echo a session of its own
echo written > /dev/stdout
"""

FORBIDDEN = r"""
said() { sed 's/[0-9][0-9]*/N/g' /tmp/said-$$; }
try() { "$@" > /dev/null 2> /tmp/said-$$ && echo "did: $*" || echo "could not: $*: $(said)"; }
if ! (: > /tmp/said-$$) 2> /dev/null; then
  try() { "$@" > /dev/null 2>&1 && echo "did: $*" || echo "could not: $*"; }
fi
try sh -c 'mkdir -p /tmp/mount && mount -t tmpfs none /tmp/mount && umount /tmp/mount'
try sh -c 'mknod /tmp/node c 1 3 && rm /tmp/node'
try chroot / true
try hostname other-name
try ping -c 1 -W 1 127.0.0.1
try head -c 1 /proc/kcore
try head -c 1 /proc/timer_list
try sh -c 'cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness'
try sh -c ': > /etc/written && rm /etc/written'
try sh -c ': > /sys/written'
try sh -c 'touch /tmp/owned && chown 1:1 /tmp/owned && rm /tmp/owned'
try nice -n -5 true
try sh -c 'ulimit -H -n 1000000'
try sh -c 'head -c 1 /proc/1/environ'
try ls /proc/1/root
try readlink /proc/1/exe
try sh -c 'echo -1000 > /proc/self/oom_score_adj'
try ls /proc/self/fd/3
try head -c 1 /dev/kmsg
try sh -c 'mkdir /sys/fs/cgroup/memory/mine && rmdir /sys/fs/cgroup/memory/mine'
try unshare -m true
try unshare -U true
try nsenter -t 1 -m true
try pivot_root / /tmp
try sh -c ': >> /proc/self/exe'
try sh -c ': < /proc/1/mem'
try ls /proc/1/fd
try ls /proc/1/cwd/
try sh -c 'cd /proc/self/cwd/../../.. && ls ..'
try sh -c 'cat /proc/keys /proc/key-users'
try dmesg
try losetup -f
try swapon /dev/null
try insmod /no-such-module
try sysctl -w kernel.hostname=other-name
try setpriv --inh-caps +all true
try sh -c 'umount /proc/kcore'
try sh -c 'echo 0 > /proc/self/setgroups'
try sh -c 'kill -0 1'
try tunctl -t probelet-tap
try ifconfig lo mtu 65000
rm -f /tmp/said-$$ /tmp/owned /tmp/node 2> /dev/null
true
"""


# posix_spawn of the C library leaves the two signals that it keeps for itself, 32 and 33, ignored. A runtime that was
# started that way, by make for example, hands that on to its commands; the helper sets every signal to its default.
LIBRARY_SIGNALS = 0b11 << 31


def lines(text: bytes) -> list[str]:
    return [_of_programs(line) for line in text.decode(errors="replace").splitlines()]


def _of_programs(line: str) -> str:
    """The line; of ignored signals without the two that the C library keeps for itself, and of the cgroup of version 2
    without the leaf (docs/kubelet-parity.md)."""
    if line.startswith("0::"):
        return re.sub(r"/probelet-[0-9]$", "", line)
    name, _, mask = line.partition("\t")
    return f"{name}\t{int(mask, 16) & ~LIBRARY_SIGNALS:016x}" if name == "SigIgn:" else line


@pytest.mark.parametrize("pod", CONFINED)
async def test_every_fact_of_a_process_is_the_same(both: Both, pod: str) -> None:
    facts = FACTS.replace("CONTAINER", both.ids[pod])
    over_the_runtime = await both.over_the_runtime(pod, ["sh", "-c", f"({facts}) 2>&1 | head -c 5000"])
    directly = await both.outcome(pod, ["sh", "-c", f"({facts}) 2>&1 | head -c 5000"])
    assert lines(directly.output) == lines(over_the_runtime.output)
    rest = ["sh", "-c", f"({facts}) 2>&1 | tail -c +5001"]
    assert lines((await both.outcome(pod, rest)).output) == lines((await both.over_the_runtime(pod, rest)).output)


@pytest.mark.parametrize("pod", CONFINED)
async def test_every_forbidden_thing_fails_in_the_same_way(both: Both, pod: str) -> None:
    command = ["sh", "-c", FORBIDDEN]
    over_the_runtime = await both.over_the_runtime(pod, command)
    directly = await both.outcome(pod, command)
    said = lines(directly.output)
    assert said == lines(over_the_runtime.output)
    assert len(said) == FORBIDDEN.count("\ntry ")
    assert any(line.startswith("could not") for line in said)


async def test_the_facts_tell_contexts_apart(both: Both) -> None:
    """Otherwise the comparison above would say nothing."""
    told = {}
    for pod in ("bare", "privileged", "added", "one-capability", "no-escalation", "groups", "read-only", "limited"):
        told[pod] = (await both.outcome(pod, ["sh", "-c", f"({FACTS}) 2>&1 | head -c 5000"])).output
    assert len(set(told.values())) == len(told)


def test_the_contexts_that_pods_have_are_among_them() -> None:
    assert set(TEN.values()) <= set(CONFINED)
    assert len(set(TEN.values())) == 10


async def test_a_process_has_a_filter_only_if_the_specification_has_a_profile(
    both: Both, containerd: Containerd
) -> None:
    for pod in CONFINED:
        profile = specification(containerd, both.ids[pod])["linux"].get("seccomp")
        assert (profile is not None) == (pod in (*PROFILED, "runtime-default-again")), pod
        status = (await both.outcome(pod, ["grep", "Seccomp", "/proc/self/status"])).output
        assert status == (
            b"Seccomp:\t0\nSeccomp_filters:\t0\n" if profile is None else b"Seccomp:\t2\nSeccomp_filters:\t1\n"
        )


async def test_a_command_is_in_the_cgroups_of_its_container(both: Both, containerd: Containerd) -> None:
    """As the machine sees them: inside, a cgroup namespace may hide where a process is."""
    for pod in CONFINED:
        process = Path(f"/proc/{containerd.pid_of(both.ids[pod])}")
        # Without a PID namespace of its own a command would be found by its parent.
        found = (await both.outcome(pod, ["cat", "/proc/self/cgroup"])).output
        inside = (await both.over_the_runtime(pod, ["cat", "/proc/self/cgroup"])).output
        assert lines(found) == lines(inside)
        assert both.ids[pod] in (process / "cgroup").read_text()
