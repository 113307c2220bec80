"""The same verdict both ways: exit codes, signals, output and its order, missing programs."""

import pytest
from probelet.runtime.execs.direct.fallback import Reason

from tests.system.containerd.direct.both import Both

pytestmark = pytest.mark.e2e

COMMANDS = {
    "success": ["true"],
    "failure": ["false"],
    "path": ["/bin/true"],
    "arguments": [
        "sh",
        "-c",
        'for word in "$@"; do echo "[$word]"; done',
        "name",
        "",
        "two words",
        "'",
        '"',
        "$x",
        "é",
    ],
    "many arguments": ["echo", *("x" * 100 for _ in range(500))],
    "exit 1": ["sh", "-c", "exit 1"],
    "exit 3": ["sh", "-c", "exit 3"],
    "exit 125": ["sh", "-c", "exit 125"],
    "exit 126": ["sh", "-c", "exit 126"],
    "exit 127": ["sh", "-c", "exit 127"],
    "exit 128": ["sh", "-c", "exit 128"],
    "exit 255": ["sh", "-c", "exit 255"],
    "exit 256": ["sh", "-c", "exit 256"],
    "killed": ["sh", "-c", "kill -9 $$"],
    "terminated": ["sh", "-c", "kill -15 $$"],
    "aborted": ["sh", "-c", "kill -6 $$"],
    "hung up": ["sh", "-c", "kill -1 $$"],
    "interrupted": ["sh", "-c", "kill -2 $$"],
    "quit": ["sh", "-c", "kill -3 $$"],
    "broken pipe": ["sh", "-c", "kill -13 $$"],
    "alarm": ["sh", "-c", "kill -14 $$"],
    "real time": ["sh", "-c", "kill -34 $$"],
    "missing in a shell": ["sh", "-c", "no-such-program"],
    "forbidden in a shell": ["sh", "-c", "/etc/hosts"],
    "stdout": ["echo", "out"],
    "stderr": ["sh", "-c", "echo err >&2"],
    "both, stdout first": ["sh", "-c", "echo err >&2; echo out"],
    "no newline": ["printf", "x"],
    "bytes": ["printf", "\\377\\000\\001"],
    "not UTF-8": ["printf", "\\303\\050"],
    "10 KiB": ["sh", "-c", "head -c 10240 /dev/zero | tr '\\0' x"],
    "10 KiB and a byte": ["sh", "-c", "head -c 10241 /dev/zero | tr '\\0' x"],
    "a megabyte": ["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"],
    "a megabyte hides stderr": ["sh", "-c", "echo err >&2; head -c 1000000 /dev/zero | tr '\\0' x"],
    "a megabyte on stderr": ["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2"],
    "9 KiB of each": ["sh", "-c", "head -c 9000 /dev/zero | tr '\\0' o; head -c 9000 /dev/zero | tr '\\0' e >&2"],
    "stdin is empty": ["cat"],
    "stdin is not a terminal": ["sh", "-c", "tty; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none"],
    "SIGPIPE ends a writer": ["sh", "-c", "yes | head -n 1"],
    "a child that ends later": ["sh", "-c", "(sleep 0.2; echo late) & echo early"],
    "a child that is left behind": ["sh", "-c", "sleep 1 > /dev/null 2>&1 < /dev/null & echo left"],
    "closed output": ["sh", "-c", "exec >&- 2>&-; true"],
    "stdout opened again": ["sh", "-c", "echo a > /dev/stdout; echo b > /proc/self/fd/1"],
    "an open file is not inherited": ["sh", "-c", "ls /proc/self/fd"],
    "a process group": ["sh", "-c", "kill -0 -$$ && echo leads"],
    "killed by its child": ["sh", "-c", "sh -c 'kill -9 $PPID'; true"],
    "HOME": ["sh", "-c", "echo $HOME; cd; pwd"],
    "PATH": ["sh", "-c", "echo $PATH; which sh"],
    "working directory": ["pwd"],
    "relative to the working directory": ["sh", "-c", "cat ./etc/hostname"],
}
PODS = ("bare", "image-user", "environment", "working-directory")


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_has_the_same_outcome_both_ways(both: Both, name: str) -> None:
    pods = PODS if name in ("HOME", "PATH", "working directory", "success", "stdout opened again") else PODS[:1]
    for pod in pods:
        directly = await both.outcome(pod, COMMANDS[name])
        assert directly == await both.over_the_runtime(pod, COMMANDS[name])


KINDS = (
    "host-processes",
    "shared-processes",
    "privileged",
    "read-only",
    "read-only-proc",
    "hardened",
    "own-profile",
    "limited",
    "host-network",
)
USUAL = ("success", "exit 3", "killed", "missing in a shell", "9 KiB of each", "a child that ends later", "broken pipe")


@pytest.mark.parametrize("pod", KINDS)
async def test_the_usual_commands_have_the_same_outcome_in_every_kind_of_pod(both: Both, pod: str) -> None:
    for name in USUAL:
        directly = await both.outcome(pod, COMMANDS[name])
        assert directly == await both.over_the_runtime(pod, COMMANDS[name]), name


async def test_a_container_with_a_read_only_proc_can_be_entered(both: Both) -> None:
    found = await both.outcome("read-only-proc", ["sh", "-c", "echo 0 > /proc/self/oom_score_adj"])
    assert found.exit_code == 1
    assert b"Read-only file system" in found.output


MISSING = {
    "missing": ["no-such-program"],
    "missing by its path": ["/no/such/program"],
    "a directory": ["/bin"],
    "a file that is no program": ["/etc/hosts"],
    "a relative path": ["./no-such-program"],
}


@pytest.mark.parametrize("name", MISSING)
async def test_a_program_that_cannot_start_is_the_runtimes_to_word(both: Both, name: str) -> None:
    assert await both.falls_back("bare", MISSING[name]) is Reason.PROGRAM
    # The next attempt of the same container is the helper's again.
    assert (await both.outcome("bare", ["true"])).exit_code == 0


async def test_a_script_without_an_interpreter_is_the_runtimes_to_word(both: Both) -> None:
    await both.outcome("bare", ["sh", "-c", "printf '#!/no/such\\n' > /tmp/script; chmod +x /tmp/script"])
    assert await both.falls_back("bare", ["/tmp/script"]) is Reason.PROGRAM
    await both.outcome("bare", ["sh", "-c", "echo 'echo ran' > /tmp/script"])
    # The kernel does not know the format; a shell would run it, an exec does not.
    assert await both.falls_back("bare", ["/tmp/script"]) is Reason.PROGRAM
