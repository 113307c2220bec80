"""Reads kubeconfig files: several are merged as kubectl does, and a mistake is one line with path, value and rule.

client-go tools/clientcmd/loader.go, 1.36: the first file that has a name wins, a missing file is passed over, and a
relative path in a file begins at the file's folder.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import yaml
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import Cluster, Context, User

from probelet.base.files.regular_file import read_regular
from probelet.base.printable import one_line
from probelet.kube.access.exec_plugin import VERSIONS, ExecPlugin
from probelet.kube.error import KubeConfigError

FILE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Hundreds of clusters with their certificates."""

_SECTIONS: Final = {"clusters": "cluster", "users": "user", "contexts": "context"}
_PATHS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_UNSUPPORTED: Final = ("auth-provider", "as", "as-uid", "as-groups", "as-user-extra")

T = TypeVar("T")
Named = dict[str, tuple[Path, dict[str, Any]]]


class Kubeconfig(msgspec.Struct, frozen=True):
    """One context of the files, with what lightkube's configuration has no place for."""

    config: SingleConfig
    plugin: ExecPlugin | None
    proxy: str
    server_name: str


def read_kubeconfig(paths: tuple[Path, ...], context: str = "") -> Kubeconfig:
    """The context of that name, or the current one. Raises KubeConfigError."""
    sections: dict[str, Named] = {name: {} for name in _SECTIONS}
    current = ""
    there = [path for path in paths if path.exists()]
    if not there:
        raise KubeConfigError(f"no kubeconfig: {', '.join(map(str, paths))} does not exist")
    for path in there:
        document = _document(path)
        current = current or str(document.get("current-context") or "")
        for section, field in _SECTIONS.items():
            for name, body in _entries(path, document, section, field):
                sections[section].setdefault(name, (path, body))
    wanted = context or current
    if not wanted:
        raise KubeConfigError(f"{there[0]}: no current-context; contexts: {_names(sections['contexts'])}")
    return _resolved(sections, wanted, there[0])


def _resolved(sections: dict[str, Named], wanted: str, first: Path) -> Kubeconfig:
    if wanted not in sections["contexts"]:
        raise KubeConfigError(f"{first}: no context {wanted!r}; contexts: {_names(sections['contexts'])}")
    path, body = sections["contexts"][wanted]
    context = _convert(path, f"context {wanted!r}", body, Context)
    if context.cluster not in sections["clusters"]:
        raise KubeConfigError(f"{path}: context {wanted!r}: no cluster {context.cluster!r}")
    cluster_path, cluster = sections["clusters"][context.cluster]
    user_path, user = path, dict[str, Any]()
    if context.user:
        if context.user not in sections["users"]:
            raise KubeConfigError(f"{path}: context {wanted!r}: no user {context.user!r}")
        user_path, user = sections["users"][context.user]
    for field in _UNSUPPORTED:
        if user.get(field):
            raise KubeConfigError(f"{user_path}: user {context.user!r}: {field} is not supported")
    plugin = _plugin(user_path, context.user or "", user.get("exec"), cluster)
    # lightkube knows older versions of plugins only.
    plain = {field: value for field, value in user.items() if field != "exec"}
    config = SingleConfig(
        wanted,
        context,
        _convert(cluster_path, f"cluster {context.cluster!r}", cluster, Cluster),
        _convert(user_path, f"user {context.user!r}", plain, User),
    )
    return Kubeconfig(config, plugin, str(cluster.get("proxy-url") or ""), str(cluster.get("tls-server-name") or ""))


def _plugin(path: Path, name: str, found: Any, cluster: Mapping[str, Any]) -> ExecPlugin | None:
    if not found:
        return None
    where = f"{path}: user {name!r}: exec"
    if not isinstance(found, dict) or not isinstance(found.get("command"), str) or not found["command"]:
        raise KubeConfigError(f"{where}: command: Required value")
    if found.get("apiVersion") not in VERSIONS:
        raise KubeConfigError(f"{where}: apiVersion {found.get('apiVersion')!r}: must be one of {', '.join(VERSIONS)}")
    if found.get("interactiveMode") == "Always":
        raise KubeConfigError(f"{where}: interactiveMode Always: there is no terminal; use IfAvailable or Never")
    command = found["command"]
    if "/" in command and not Path(command).is_absolute():
        command = str(path.parent / command)
    try:
        arguments = [str(argument) for argument in found.get("args") or ()]
        environment = {str(variable["name"]): str(variable["value"]) for variable in found.get("env") or ()}
    except (TypeError, KeyError) as error:
        raise KubeConfigError(f"{where}: args must be texts, env must be names with values") from error
    return ExecPlugin(
        (command, *arguments), found["apiVersion"], environment, cluster if found.get("provideClusterInfo") else None
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        data = read_regular(path, FILE_BYTES_MAX)
    except OSError as error:
        raise KubeConfigError(f"{path}: {error.strerror or error}") from error
    if len(data) > FILE_BYTES_MAX:
        raise KubeConfigError(f"{path}: longer than {FILE_BYTES_MAX} bytes")
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise KubeConfigError(f"{path}: no YAML: {one_line(str(error))}") from error
    if not isinstance(found, dict):
        raise KubeConfigError(f"{path}: no kubeconfig: must be a mapping")
    return found


def _entries(path: Path, document: dict[str, Any], section: str, field: str) -> list[tuple[str, dict[str, Any]]]:
    entries = []
    for at, entry in enumerate(document.get(section) or ()):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise KubeConfigError(f"{path}: {section}[{at}].name: Required value")
        body = entry.get(field) or {}
        if not isinstance(body, dict):
            raise KubeConfigError(f"{path}: {section}[{at}].{field}: must be a mapping")
        absolute = {key: str(path.parent / body[key]) for key in _PATHS if isinstance(body.get(key), str) and body[key]}
        entries.append((entry["name"], body | absolute))
    return entries


def _convert(path: Path, where: str, body: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        raise KubeConfigError(f"{path}: {where}: {one_line(str(error))}") from error


def _names(section: Named) -> str:
    return ", ".join(sorted(section)) or "none"
