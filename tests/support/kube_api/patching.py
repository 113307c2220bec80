"""Merge patch (RFC 7386) and JSON patch (RFC 6902)."""

from typing import Any

from tests.support.kube_api.refusal import RefusalError


def merge(target: Any, patch: Any) -> Any:
    """The target after a merge patch."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def apply_json_patch(target: Any, operations: list[dict[str, Any]]) -> Any:
    """Changes ``target`` in place and returns it. A failed test or a wrong path is a refusal, as of the API server."""
    for operation in operations:
        match operation["op"]:
            case "test":
                if _at(target, operation["path"]) != operation["value"]:
                    raise RefusalError(422, f"testing path {operation['path']} failed")
            case "add":
                target = _add(target, operation["path"], operation["value"])
            case "remove":
                _remove(target, operation["path"])
            case "replace":
                _at(target, operation["path"])
                if not operation["path"]:
                    target = operation["value"]
                    continue
                holder, key = _holder(target, operation["path"])
                holder[key] = operation["value"]
            case "copy" | "move" as how:
                value = _at(target, operation["from"])
                if how == "move":
                    _remove(target, operation["from"])
                target = _add(target, operation["path"], value)
            case unknown:
                raise RefusalError(400, f"unknown operation {unknown}")
    return target


def _steps(path: str) -> list[str]:
    if path and not path.startswith("/"):
        raise RefusalError(400, f"path {path} does not begin with a slash")
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _at(target: Any, path: str) -> Any:
    for step in _steps(path):
        target = _child(target, step, path)
    return target


def _child(target: Any, step: str, path: str) -> Any:
    if isinstance(target, dict) and step in target:
        return target[step]
    if isinstance(target, list) and step.isdigit() and int(step) < len(target):
        return target[int(step)]
    raise RefusalError(422, f"the path {path} does not exist")


def _holder(target: Any, path: str) -> tuple[Any, Any]:
    *way, last = _steps(path)
    for step in way:
        target = _child(target, step, path)
    return target, int(last) if isinstance(target, list) and last != "-" else last


def _add(target: Any, path: str, value: Any) -> Any:
    if not path:
        return value
    holder, key = _holder(target, path)
    if isinstance(holder, list):
        holder.insert(len(holder) if key == "-" else key, value)
    else:
        holder[key] = value
    return target


def _remove(target: Any, path: str) -> None:
    _at(target, path)
    holder, key = _holder(target, path)
    del holder[key]
