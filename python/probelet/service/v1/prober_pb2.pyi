# mypy: disable-error-code="type-arg"
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ProbeType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROBE_TYPE_UNSPECIFIED: _ClassVar[ProbeType]
    STARTUP: _ClassVar[ProbeType]
    READINESS: _ClassVar[ProbeType]
    LIVENESS: _ClassVar[ProbeType]

class Result(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_UNSPECIFIED: _ClassVar[Result]
    SUCCESS: _ClassVar[Result]
    FAILURE: _ClassVar[Result]
    UNKNOWN: _ClassVar[Result]
PROBE_TYPE_UNSPECIFIED: ProbeType
STARTUP: ProbeType
READINESS: ProbeType
LIVENESS: ProbeType
RESULT_UNSPECIFIED: Result
SUCCESS: Result
FAILURE: Result
UNKNOWN: Result

class AddPodRequest(_message.Message):
    __slots__ = ("pod",)
    POD_FIELD_NUMBER: _ClassVar[int]
    pod: bytes
    def __init__(self, pod: _Optional[bytes] = ...) -> None: ...

class AddPodResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SetPodStatusRequest(_message.Message):
    __slots__ = ("pod_uid", "status")
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    pod_uid: str
    status: bytes
    def __init__(self, pod_uid: _Optional[str] = ..., status: _Optional[bytes] = ...) -> None: ...

class SetPodStatusResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RemovePodStatusRequest(_message.Message):
    __slots__ = ("pod_uid",)
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    pod_uid: str
    def __init__(self, pod_uid: _Optional[str] = ...) -> None: ...

class RemovePodStatusResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class UpdatePodStatusRequest(_message.Message):
    __slots__ = ("pod", "status")
    POD_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    pod: bytes
    status: bytes
    def __init__(self, pod: _Optional[bytes] = ..., status: _Optional[bytes] = ...) -> None: ...

class UpdatePodStatusResponse(_message.Message):
    __slots__ = ("status",)
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: bytes
    def __init__(self, status: _Optional[bytes] = ...) -> None: ...

class RemovePodRequest(_message.Message):
    __slots__ = ("pod_uid",)
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    pod_uid: str
    def __init__(self, pod_uid: _Optional[str] = ...) -> None: ...

class RemovePodResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StopLivenessAndStartupRequest(_message.Message):
    __slots__ = ("pod_uid",)
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    pod_uid: str
    def __init__(self, pod_uid: _Optional[str] = ...) -> None: ...

class StopLivenessAndStartupResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CleanupPodsRequest(_message.Message):
    __slots__ = ("desired_pod_uids",)
    DESIRED_POD_UIDS_FIELD_NUMBER: _ClassVar[int]
    desired_pod_uids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, desired_pod_uids: _Optional[_Iterable[str]] = ...) -> None: ...

class CleanupPodsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListResultsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ContainerResult(_message.Message):
    __slots__ = ("probe_type", "container_id", "pod_uid", "result")
    PROBE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    probe_type: ProbeType
    container_id: str
    pod_uid: str
    result: Result
    def __init__(self, probe_type: _Optional[_Union[ProbeType, str]] = ..., container_id: _Optional[str] = ..., pod_uid: _Optional[str] = ..., result: _Optional[_Union[Result, str]] = ...) -> None: ...

class ListResultsResponse(_message.Message):
    __slots__ = ("sequence", "results")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    results: _containers.RepeatedCompositeFieldContainer[ContainerResult]
    def __init__(self, sequence: _Optional[int] = ..., results: _Optional[_Iterable[_Union[ContainerResult, _Mapping]]] = ...) -> None: ...

class WatchResultsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchResultsResponse(_message.Message):
    __slots__ = ("sequence", "reset", "more", "results")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    reset: bool
    more: bool
    results: _containers.RepeatedCompositeFieldContainer[ContainerResult]
    def __init__(self, sequence: _Optional[int] = ..., reset: _Optional[bool] = ..., more: _Optional[bool] = ..., results: _Optional[_Iterable[_Union[ContainerResult, _Mapping]]] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Event(_message.Message):
    __slots__ = ("at_ms", "pod_uid", "field_path", "type", "reason", "message", "dropped")
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    FIELD_PATH_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    at_ms: int
    pod_uid: str
    field_path: str
    type: str
    reason: str
    message: str
    dropped: int
    def __init__(self, at_ms: _Optional[int] = ..., pod_uid: _Optional[str] = ..., field_path: _Optional[str] = ..., type: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., dropped: _Optional[int] = ...) -> None: ...

class ExecAttempt(_message.Message):
    __slots__ = ("run", "pod_uid", "container", "probe_type", "container_id", "argv", "timeout_seconds")
    RUN_FIELD_NUMBER: _ClassVar[int]
    POD_UID_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    PROBE_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTAINER_ID_FIELD_NUMBER: _ClassVar[int]
    ARGV_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    run: int
    pod_uid: str
    container: str
    probe_type: ProbeType
    container_id: str
    argv: _containers.RepeatedScalarFieldContainer[str]
    timeout_seconds: int
    def __init__(self, run: _Optional[int] = ..., pod_uid: _Optional[str] = ..., container: _Optional[str] = ..., probe_type: _Optional[_Union[ProbeType, str]] = ..., container_id: _Optional[str] = ..., argv: _Optional[_Iterable[str]] = ..., timeout_seconds: _Optional[int] = ...) -> None: ...

class ExecAnswer(_message.Message):
    __slots__ = ("run", "exit", "timeout", "error")
    RUN_FIELD_NUMBER: _ClassVar[int]
    EXIT_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    run: int
    exit: Exit
    timeout: str
    error: str
    def __init__(self, run: _Optional[int] = ..., exit: _Optional[_Union[Exit, _Mapping]] = ..., timeout: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class Exit(_message.Message):
    __slots__ = ("code", "output")
    CODE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    code: int
    output: bytes
    def __init__(self, code: _Optional[int] = ..., output: _Optional[bytes] = ...) -> None: ...
