"""The environment of a container, and the messages of a failed start."""

import errno
import os
from pathlib import Path

import pytest
from probelet.runtime.cri import errors
from probelet.runtime.cri.v1 import api_pb2
from probelet.runtime.embedded.child import process_tree
from probelet.runtime.embedded.child.spawn import environment, refusal, spawn


def config(**envs: str) -> api_pb2.ContainerConfig:
    return api_pb2.ContainerConfig(
        envs=[api_pb2.KeyValue(key=key, value=value.encode()) for key, value in envs.items()]
    )


def test_a_container_gets_little_of_the_machines_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environb", {b"PATH": b"/bin", b"HOME": b"/h", b"SECRET": b"s"})
    assert environment(config(A="1"), "id", "127.64.0.1", "/root-dir") == {
        b"PATH": b"/bin",
        b"HOME": b"/h",
        b"POD_IP": b"127.64.0.1",
        b"A": b"1",
        b"PROBELET_CONTAINER_ID": b"id",
        b"PROBELET_RUNTIME_ROOT": b"/root-dir",
    }


def test_the_manifest_overrides_inherited_variables_but_not_the_marks() -> None:
    made = environment(config(PATH="/mine", POD_IP="10.0.0.1", PROBELET_CONTAINER_ID="x"), "id", "127.64.0.1", "/r")
    assert (made[b"PATH"], made[b"POD_IP"], made[b"PROBELET_CONTAINER_ID"]) == (b"/mine", b"10.0.0.1", b"id")


def test_a_pod_on_the_nodes_network_has_no_pod_ip_of_ours() -> None:
    assert b"POD_IP" not in environment(config(), "id", "", "/r")


@pytest.mark.parametrize(
    ("number", "filename", "program", "cwd", "text"),
    [
        (errno.ENOENT, "nope", "nope", "", 'exec: "nope": executable file not found in $PATH'),
        (errno.ENOENT, "/no/pe", "/no/pe", "", 'exec: "/no/pe": no such file or directory'),
        (errno.EACCES, "/etc/passwd", "/etc/passwd", "", 'exec: "/etc/passwd": permission denied'),
        (errno.ENOEXEC, "/x", "/x", "", 'exec: "/x": exec format error'),
        (errno.ENOENT, "/gone", "true", "/gone", 'chdir to cwd ("/gone") failed: no such file or directory'),
    ],
)
def test_the_message_of_a_refused_start(number: int, filename: str, program: str, cwd: str, text: str) -> None:
    assert refusal(OSError(number, os.strerror(number), filename), program, cwd) == text


@pytest.mark.parametrize(
    ("argv", "env", "cwd", "error", "text"),
    [
        (["no-such-program"], {b"PATH": b"/bin"}, "", errors.RuntimeRefused, "not found in \\$PATH"),
        (["/etc/passwd"], {}, "", errors.RuntimeRefused, "permission denied"),
        (["/"], {}, "", errors.RuntimeRefused, "permission denied"),
        (["/bin/true"], {}, "/no/such/directory", errors.RuntimeRefused, "chdir to cwd"),
        (["/bin/tr\0ue"], {}, "", errors.InvalidArgument, "null byte"),
        (["/bin/true"], {b"A=B": b"c"}, "", errors.InvalidArgument, "illegal environment"),
    ],
)
def test_a_start_that_fails_raises_and_leaves_no_child(
    argv: list[str], env: dict[bytes, bytes], cwd: str, error: type[errors.CriError], text: str
) -> None:
    # Another test of this process may have left a child.
    before = set(process_tree.children())
    with Path(os.devnull).open("wb") as null, pytest.raises(error, match=text):
        spawn(argv, env, cwd, null.fileno(), null.fileno())
    assert set(process_tree.children()) <= before
