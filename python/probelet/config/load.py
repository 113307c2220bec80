"""Loads the configuration: the kubelet's own file, our document beside it, drop-ins, and the flags on top.

Precedence: flag, later drop-in, earlier drop-in, main file, default. Each file is decoded on its own first. What only a
strict decoder refuses (an unknown field, a duplicate key) is a warning in the kubelet's document, because the kubelet
then decodes again leniently, and an error with ``strict``. In our own document it is always an error: a misspelt opt-in
would silently stay off. The values then come from the merged files.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from probelet.config import kubelet, opt_in
from probelet.config.alias import GATE_ALIASES, contradiction, deprecation, rename_aliases, rename_keys
from probelet.config.crash_loop import MAX, CrashLoop, resolve_crash_loop
from probelet.config.drop_in import drop_in_files
from probelet.config.gate import DEFAULT_VERSION, Gates, parse_feature_gates, refusal
from probelet.config.inert.unavailable import DETAIL, UNAVAILABLE_FIELDS, UNAVAILABLE_GATES
from probelet.config.inert.unread_field import UNREAD_FIELDS
from probelet.config.kubelet import KubeletConfiguration, Section, set_kubelet_defaults
from probelet.config.layer import Layers
from probelet.config.opt_in import ProbeletConfiguration
from probelet.config.validate import validate_kubelet, validate_probelet
from probelet.errors import ProbeletError
from probelet.spec.read.decode import decode
from probelet.spec.read.load import read_manifest
from probelet.spec.read.tree import Document, TreeError, documents, locate
from probelet.spec.text.golang import go_quote
from probelet.spec.text.problem import FieldError, Problem, shorten

FLAG = "--feature-gates"


class Config(msgspec.Struct, frozen=True):
    """The effective configuration; loaded once at start."""

    kubelet: KubeletConfiguration
    probelet: ProbeletConfiguration
    gates: Gates
    crash_loop: CrashLoop
    """The curve that the other fields result in."""
    origins: dict[str, str]
    """The origin of each value that is no default, by field path: ``c.yaml:3`` or a flag."""
    warnings: list[Problem]
    """Strict-decoding mistakes and ignored values; each becomes one log line."""
    path: Path | None = None
    """The main file (``--config``); the other files are drop-ins."""


class ConfigError(ProbeletError, ValueError):
    """The configuration is unusable. ``problems`` holds every mistake; the exception's text has one line for each."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def load_config(
    path: Path | None,
    *,
    config_dir: Path | None = None,
    feature_gates: str | None = None,
    strict: bool = False,
    kubelet_version: str = DEFAULT_VERSION,
) -> Config:
    """Loads the configuration file (``--config``), its drop-ins (``--config-dir``) and ``--feature-gates``.

    A file holds at most one ``KubeletConfiguration`` and one ``ProbeletConfiguration``; without a file every value is
    its default. Raises ``ConfigError`` with every mistake at once.
    """
    loader = _Loader(strict, kubelet_version)
    if path is not None:
        loader.read(path, patch=False)
    if config_dir is not None:
        loader.read_folder(config_dir)
    return loader.finish(feature_gates)


class _Loader:
    def __init__(self, strict: bool, version: str) -> None:
        self._problems: list[Problem] = []
        self._files: list[Path | None] = []
        self._strict = strict
        self._version = version
        self._main: Path | None = None
        self._kubelet = Layers()
        self._probelet = Layers()

    def _error(self, message: str, path: Path | None = None, line: int = 0, field: str = "") -> None:
        self._problems.append(Problem("error", message, path, line, field))

    # Each file on its own.

    def read_folder(self, folder: Path) -> None:
        try:
            files = drop_in_files(folder)
        except OSError as error:
            self._error(f"cannot be read: {error.strerror}", Path(error.filename or folder))
            return
        for path in files:
            self.read(path, patch=True)

    def read(self, path: Path, *, patch: bool) -> None:
        """Reads one file. The main file may be empty; an empty drop-in is a mistake."""
        kinds: dict[str, int] = {}
        self._files.append(path)
        if not patch:
            self._main = path
        try:
            for document in documents(read_manifest(path)):
                self._document(document, path, kinds, patch=patch)
            if patch and not kinds:
                self._error("Required value: apiVersion and kind", path, field="kind")
        except OSError as error:
            self._error(f"cannot be read: {error.strerror}", path)
        except TreeError as error:
            self._error(str(error), path, error.line)

    def _document(self, document: Document, path: Path, kinds: dict[str, int], *, patch: bool) -> None:
        root = document.root
        version, kind = root.text_of("apiVersion"), root.text_of("kind")
        if kind in kinds:
            self._error(f"Duplicate value: {go_quote(kind)}: already at line {kinds[kind]}", path, root.line, "kind")
            return
        kinds[kind] = root.line
        if (version, kind) == (kubelet.API_VERSION, kubelet.KIND):
            self._read_kubelet(document, path)
            self._kubelet.add(path, root, patch=patch)
        elif (version, kind) == (opt_in.API_VERSION, opt_in.KIND):
            self._read_probelet(document, path)
            self._probelet.add(path, root, patch=patch)
        else:
            supported = " or ".join(f"{module.API_VERSION} {module.KIND}" for module in (kubelet, opt_in))
            value = shorten(go_quote(f"{version} {kind}".strip()))
            self._error(f"Unsupported value: {value}: must be {supported}", path, locate(root, "kind"), "kind")

    def _read_kubelet(self, document: Document, path: Path) -> None:
        if isinstance(document.root.value, dict):
            for name in UNREAD_FIELDS & document.root.value.keys():
                del document.root.value[name]
        self._decode(document, KubeletConfiguration, path, strict=self._strict)
        used, wrong = rename_aliases(document.root)
        for alias in used:
            line = locate(document.root, f"featureGates[{GATE_ALIASES[alias]}]")
            field = f"featureGates[{alias}]"
            if alias in wrong:
                self._error(contradiction(alias), path, line, field)
            self._problems.append(Problem("warning", deprecation(alias), path, line, field))

    def _read_probelet(self, document: Document, path: Path) -> None:
        root = document.root
        # A document is a mapping here: it has an apiVersion and a kind.
        members = root.value if isinstance(root.value, dict) else {}
        used, wrong = rename_keys(members, opt_in.ALIASES)
        self._decode(document, ProbeletConfiguration, path, strict=True)
        for alias in used:
            name, line = opt_in.ALIASES[alias], locate(root, opt_in.ALIASES[alias])
            if alias in wrong:
                self._error(f"contradicts {name}, which is the same option", path, line, alias)
            self._problems.append(Problem("warning", f"deprecated: the option is called {name}", path, line, alias))

    def _decode(self, document: Document, cls: type[Section], path: Path, *, strict: bool) -> None:
        """Reports the mistakes of one file; ``finish`` takes the values from all files together."""
        found: list[Problem] = []
        decode(document, cls, path, found)
        for problem in found:
            if strict and problem.severity == "warning":
                message = problem.message.replace(", ignored", "")
                problem = msgspec.structs.replace(problem, severity="error", message=message)
            self._problems.append(problem)

    # All files together.

    def finish(self, flag: str | None) -> Config:
        """The values of all files, overridden by the flag, and the resulting curve."""
        in_kubelet = decode(self._kubelet.merged(), KubeletConfiguration, None, [])
        in_probelet = decode(self._probelet.merged(), ProbeletConfiguration, None, [])
        self._finish(self._kubelet, in_kubelet, validate_kubelet(in_kubelet))
        self._finish(self._probelet, in_probelet, validate_probelet(in_probelet))
        from_flag = self._flag(flag)
        wanted = {**in_kubelet.feature_gates, **from_flag}
        gates = self._gates(wanted, from_flag)
        crash_loop = resolve_crash_loop(in_kubelet, in_probelet, gates, max_gate_named=MAX in wanted)
        for error in crash_loop.errors:
            self._error(error.body, *self._kubelet.place(error.path), error.path)
        for ignored in crash_loop.ignored:
            path, line = self._kubelet.place(ignored.path)
            self._problems.append(Problem("warning", ignored.detail, path, line, ignored.path))
        self._problems.sort(key=self._order)
        errors = [problem for problem in self._problems if problem.severity == "error"]
        if errors:
            raise ConfigError(errors)
        in_kubelet = msgspec.structs.replace(in_kubelet, feature_gates=wanted)
        origins = {
            **_origins(self._kubelet, in_kubelet),
            **_origins(self._probelet, in_probelet),
            **dict.fromkeys((f"featureGates[{name}]" for name in from_flag), FLAG),
        }
        effective = set_kubelet_defaults(in_kubelet)
        return Config(effective, in_probelet, gates, crash_loop.curve, origins, self._problems, self._main)

    def _order(self, problem: Problem) -> tuple[int, int]:
        """Sorts by file and line; problems without a file come last."""
        known = problem.path in self._files
        return (self._files.index(problem.path) if known else len(self._files), problem.line)

    def _finish(self, layers: Layers, section: Section, errors: list[FieldError]) -> None:
        reported = {error.path for error in errors}
        for error in [*errors, *(error for error in _unavailable(section) if error.path not in reported)]:
            self._error(error.body, *layers.place(error.path), error.path)

    def _flag(self, flag: str | None) -> dict[str, bool]:
        try:
            given = parse_feature_gates(flag or "")
        except ValueError as error:
            self._error(str(error), field=FLAG)
            return {}
        for alias in GATE_ALIASES.keys() & given.keys():
            value, name = given.pop(alias), GATE_ALIASES[alias]
            if given.setdefault(name, value) != value:
                self._error(contradiction(alias), field=FLAG)
            self._problems.append(Problem("warning", deprecation(alias), field=FLAG))
        return given

    def _gates(self, wanted: Mapping[str, bool], from_flag: Mapping[str, bool]) -> Gates:
        """The gates; each refusal names the file or flag that caused it."""
        for name, value in wanted.items():
            why = refusal(name, value, self._version)
            if why is None and name in UNAVAILABLE_GATES and value != Gates(self._version).default(name):
                why = f"cannot set feature gate {name} to {str(value).lower()}: {DETAIL}"
            if why is not None:
                self._gate_error(why, name, in_flag=name in from_flag)
        known = {name: value for name, value in wanted.items() if refusal(name, value, self._version) is None}
        gates = Gates(self._version, known)
        for line in gates.broken_dependencies():
            self._error(line, field="featureGates")
        return gates

    def _gate_error(self, message: str, name: str, *, in_flag: bool) -> None:
        if in_flag:
            self._error(message, field=FLAG)
            return
        field = f"featureGates[{name}]"
        self._error(message, *self._kubelet.place(field), field)


def _unavailable(section: Section) -> list[FieldError]:
    """An error for each field that differs from its default and has no effect yet."""
    blank = type(section)()
    return [
        FieldError(field.encode_name, "Forbidden", detail=DETAIL)
        for field in msgspec.structs.fields(section)
        if field.encode_name in UNAVAILABLE_FIELDS and getattr(section, field.name) != getattr(blank, field.name)
    ]


def _origins(layers: Layers, section: Section, within: str = "") -> dict[str, str]:
    """The origin of each field that a file sets, including fields of nested sections."""
    found: dict[str, str] = {}
    for field in msgspec.structs.fields(section):
        path, value = f"{within}{field.encode_name}", getattr(section, field.name)
        if isinstance(value, Section):
            found |= _origins(layers, value, f"{path}.")
        elif isinstance(value, dict):
            named = {f"{path}[{name}]": layers.origin(f"{path}[{name}]") for name in value}
            found |= {name: origin for name, origin in named.items() if origin is not None}
        elif within or field.name not in ("api_version", "kind"):
            origin = layers.origin(path)
            if origin is not None:
                found[path] = origin
    return found
