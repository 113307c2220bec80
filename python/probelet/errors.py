"""Errors that probelet raises on purpose. They have one base, so that a caller can catch all of them in one place."""

__all__ = [
    "AnswerError",
    "ClusterError",
    "InvalidInputError",
    "JournalError",
    "ManifestError",
    "ProbeletError",
    "RecordingError",
    "UnknownPodError",
]


class ProbeletError(Exception):
    """Base of probelet's own exceptions; the text is one line per mistake."""


class InvalidInputError(ProbeletError, ValueError):
    """An argument or a document has a value that is not allowed; the text names the place, the value and the rule."""


class DaemonError(ProbeletError):
    """A service cannot do its work on this machine; the message is one line."""


class UnknownPodError(InvalidInputError):
    """No pod with this UID was defined."""


class JournalError(ProbeletError, ValueError):
    """A file is not a journal, or a part of it is damaged; the text says why."""


class RecordingError(ProbeletError, ValueError):
    """A file or directory is no recording of a flight recorder, or a part of it is damaged; the text says where."""


class ManifestError(InvalidInputError):
    """Manifests have mistakes, or no pod: a line for each mistake, with the place, the field, and what is allowed."""


class AnswerError(InvalidInputError):
    """A test names a pod, container or probe that its node does not have, or an answer or duration that cannot be
    read; the text lists what is allowed."""


class ClusterError(InvalidInputError):
    """A cluster in virtual time is asked about something that it does not have, or a behaviour, fault or duration is
    impossible; the text names the value and what is allowed."""
