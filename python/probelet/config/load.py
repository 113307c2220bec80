"""Reading the configuration: the kubelet's own file, our document beside it, and the flags on top.

Order of precedence: flag, file, default. Decoding is strict first; what only strictness refuses (an unknown field, a
key written twice) is a warning for the kubelet's document, as the kubelet's lenient second try makes it, and an error
with ``strict``. In our own document it is always an error: a misspelt opt-in would silently stay off.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from probelet.config import kubelet, opt_in
from probelet.config.gate import DEFAULT_VERSION, GATES, Gates, parse_feature_gates, refusal
from probelet.config.kubelet import KubeletConfiguration, Section, set_kubelet_defaults
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.unavailable import DETAIL, UNAVAILABLE_FIELDS, UNAVAILABLE_GATES
from probelet.config.unread_field import UNREAD_FIELDS
from probelet.config.validate import validate_kubelet, validate_probelet
from probelet.spec.decode import decode
from probelet.spec.load import read_manifest
from probelet.spec.problem import FieldError, Problem, go_quote, shorten
from probelet.spec.tree import Document, TreeError, documents, locate

FLAG = "--feature-gates"


class Config(msgspec.Struct, frozen=True):
    """The effective configuration; read once at start."""

    kubelet: KubeletConfiguration
    probelet: ProbeletConfiguration
    gates: Gates
    warnings: list[Problem]
    """What a strict decoder would have refused; one log line each."""


class ConfigError(ValueError):
    """The configuration cannot be used. ``problems`` names every mistake; the text is those lines."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def load_config(
    path: Path | None,
    *,
    feature_gates: str | None = None,
    strict: bool = False,
    kubelet_version: str = DEFAULT_VERSION,
) -> Config:
    """Read the configuration file (``--config``) and the gates of the command line (``--feature-gates``).

    The file holds at most one ``KubeletConfiguration`` and one ``ProbeletConfiguration``; without a file all is
    default. Raises ``ConfigError`` with every mistake at once.
    """
    loader = _Loader(path, strict, kubelet_version)
    loader.read()
    gates = loader.gates(feature_gates)
    errors = [problem for problem in loader.problems if problem.severity == "error"]
    if errors:
        raise ConfigError(errors)
    return Config(set_kubelet_defaults(loader.kubelet), loader.probelet, gates, loader.problems)


class _Loader:
    def __init__(self, path: Path | None, strict: bool, version: str) -> None:
        self.kubelet = KubeletConfiguration()
        self.probelet = ProbeletConfiguration()
        self.problems: list[Problem] = []
        self._path = path
        self._strict = strict
        self._version = version
        self._documents: dict[str, Document] = {}

    def _error(self, message: str, line: int = 0, field: str = "") -> None:
        self.problems.append(Problem("error", message, self._path, line, field))

    def read(self) -> None:
        if self._path is None:
            return
        try:
            for document in documents(read_manifest(self._path)):
                self._document(document)
        except OSError as error:
            self._error(f"cannot be read: {error.strerror}")
        except TreeError as error:
            self._error(str(error), error.line)

    def _document(self, document: Document) -> None:
        root = document.root
        version, kind = root.text_of("apiVersion"), root.text_of("kind")
        first = self._documents.setdefault(kind, document)
        if first is not document:
            self._error(f"Duplicate value: {go_quote(kind)}: already at line {first.root.line}", root.line, "kind")
        elif (version, kind) == (kubelet.API_VERSION, kubelet.KIND):
            self._kubelet(document)
        elif (version, kind) == (opt_in.API_VERSION, opt_in.KIND):
            self._probelet(document)
        else:
            supported = " or ".join(f"{module.API_VERSION} {module.KIND}" for module in (kubelet, opt_in))
            value = shorten(go_quote(f"{version} {kind}".strip()))
            self._error(f"Unsupported value: {value}: must be {supported}", locate(root, "kind"), "kind")

    def _kubelet(self, document: Document) -> None:
        if isinstance(document.root.value, dict):
            for name in UNREAD_FIELDS & document.root.value.keys():
                del document.root.value[name]
        found: list[Problem] = []
        self.kubelet = decode(document, KubeletConfiguration, self._path, found)
        self._take(found, self._strict)
        self._finish(document, self.kubelet, validate_kubelet(self.kubelet))

    def _probelet(self, document: Document) -> None:
        found: list[Problem] = []
        self.probelet = decode(document, ProbeletConfiguration, self._path, found)
        self._take(found, strict=True)
        self._finish(document, self.probelet, validate_probelet(self.probelet))

    def _take(self, found: list[Problem], strict: bool) -> None:
        for problem in found:
            if strict and problem.severity == "warning":
                message = problem.message.replace(", ignored", "")
                problem = msgspec.structs.replace(problem, severity="error", message=message)
            self.problems.append(problem)

    def _finish(self, document: Document, section: Section, errors: list[FieldError]) -> None:
        told = {error.path for error in errors}
        for error in [*errors, *(error for error in _unavailable(section) if error.path not in told)]:
            self._error(error.body, locate(document.root, error.path), error.path)

    def gates(self, flag: str | None) -> Gates:
        """File and flag merged gate by gate; each refusal names the place it comes from."""
        from_flag: Mapping[str, bool] = {}
        try:
            from_flag = parse_feature_gates(flag or "")
        except ValueError as error:
            self.problems.append(Problem("error", str(error), field=FLAG))
        wanted = {**self.kubelet.feature_gates, **from_flag}
        for name, value in wanted.items():
            why = refusal(name, value, self._version)
            if why is None and name in UNAVAILABLE_GATES and value != Gates(self._version).default(name):
                why = f"cannot set feature gate {name} to {str(value).lower()}: {DETAIL}"
            if why is not None:
                self._gate_error(why, name, in_flag=name in from_flag)
        known = {name: value for name, value in wanted.items() if refusal(name, value, self._version) is None}
        gates = Gates(self._version, known)
        for name in sorted(UNAVAILABLE_GATES & GATES.keys() - wanted.keys()):
            if gates[name] != gates.default(name):
                special = "AllAlpha" if gates[name] else "AllBeta"
                why = f"cannot set feature gate {name} to {str(gates[name]).lower()}: {DETAIL}"
                self._gate_error(why, special, in_flag=special in from_flag)
        for line in gates.broken_dependencies():
            self.problems.append(Problem("error", line, field="featureGates"))
        return gates

    def _gate_error(self, message: str, name: str, *, in_flag: bool) -> None:
        if in_flag:
            self.problems.append(Problem("error", message, field=FLAG))
            return
        document = self._documents[kubelet.KIND]
        field = f"featureGates[{name}]"
        self._error(message, locate(document.root, field), field)


def _unavailable(section: Section) -> list[FieldError]:
    """An error for each field that is set to something else than its default and does nothing yet."""
    blank = type(section)()
    return [
        FieldError(field.encode_name, "Forbidden", detail=DETAIL)
        for field in msgspec.structs.fields(section)
        if field.encode_name in UNAVAILABLE_FIELDS and getattr(section, field.name) != getattr(blank, field.name)
    ]
