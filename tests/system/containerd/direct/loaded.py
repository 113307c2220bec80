"""The seccomp filters that a process has loaded, as the kernel gives them to a tracer."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_PTRACE_DETACH, _PTRACE_SEIZE, _PTRACE_INTERRUPT = 17, 0x4206, 0x4207
_PTRACE_SECCOMP_GET_FILTER, _PTRACE_SECCOMP_GET_METADATA = 0x420C, 0x420D
_WALL = 0x40000000
_INSTRUCTION_BYTES = 8

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = [ctypes.c_long] * 4
_LIBC.ptrace.restype = ctypes.c_long


def loaded(pid: int) -> list[tuple[int, list[bytes]]]:
    """Flags and instructions of each filter, the first that was loaded first. The process stops for a moment."""
    with _stopped(pid):
        return list(_filters(pid))


def _filters(pid: int) -> Iterator[tuple[int, list[bytes]]]:
    for index in range(100):
        try:
            count = _ptrace(_PTRACE_SECCOMP_GET_FILTER, pid, index, 0)
        except FileNotFoundError:
            return
        buffer = ctypes.create_string_buffer(count * _INSTRUCTION_BYTES)
        _ptrace(_PTRACE_SECCOMP_GET_FILTER, pid, index, ctypes.addressof(buffer))
        code = buffer.raw
        metadata = (ctypes.c_uint64 * 2)(index, 0)
        _ptrace(_PTRACE_SECCOMP_GET_METADATA, pid, ctypes.sizeof(metadata), ctypes.addressof(metadata))
        yield metadata[1], [code[at : at + _INSTRUCTION_BYTES] for at in range(0, len(code), _INSTRUCTION_BYTES)]


@contextmanager
def _stopped(pid: int) -> Iterator[None]:
    _ptrace(_PTRACE_SEIZE, pid, 0, 0)
    try:
        _ptrace(_PTRACE_INTERRUPT, pid, 0, 0)
        _, status = os.waitpid(pid, _WALL)
        assert os.WIFSTOPPED(status), "the process has ended"
        yield
    finally:
        _ptrace(_PTRACE_DETACH, pid, 0, 0)


def _ptrace(request: int, pid: int, address: int, data: int) -> int:
    result: int = _LIBC.ptrace(request, pid, address, data)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
