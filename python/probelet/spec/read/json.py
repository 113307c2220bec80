"""Pods and probes as JSON, the form they cross to the engine and arrive from a node agent in."""

import msgspec

from probelet.errors import ProbeletError
from probelet.spec.model.pod import Pod
from probelet.spec.model.probe import Probe
from probelet.spec.read.decode import decode
from probelet.spec.read.tree import DEPTH_MAX, TreeError, documents
from probelet.spec.text.problem import Problem


class SpecError(ProbeletError, ValueError):
    """An object that cannot be used. ``problems`` names every mistake, one line each; the text is those lines."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def decode_pod(data: bytes) -> Pod:
    """Decode a v1.Pod from JSON, without defaulting or validation; unknown fields are ignored, null is unset.

    Raises ``SpecError`` with one problem per field of a wrong type.
    """
    try:
        return msgspec.json.decode(data, type=Pod)
    except msgspec.ValidationError:
        # A null where Go's decoder takes one, or a mistake: the tree knows which, and names all of them.
        pass
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SpecError([Problem("error", f"not JSON: {error}")]) from None
    except RecursionError:
        raise SpecError([Problem("error", f"nested deeper than {DEPTH_MAX} levels")]) from None
    problems: list[Problem] = []
    try:
        pods = [decode(document, Pod, None, problems) for document in documents(data.decode())]
    except (TreeError, UnicodeDecodeError) as error:
        raise SpecError([Problem("error", str(error))]) from None
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors or not pods:
        raise SpecError(errors or [Problem("error", "Invalid value: null: must be a v1.Pod")])
    return pods[0]


def encode_pod(pod: Pod) -> bytes:
    """Encode as v1.Pod JSON: camelCase, empty fields left out. The Rust engine parses exactly this."""
    return msgspec.json.encode(pod)


def encode_probe(probe: Probe) -> bytes:
    """Encode as v1.Probe JSON, which ``attempt`` parses."""
    return msgspec.json.encode(probe)
