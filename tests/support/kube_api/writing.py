"""What a write makes of an object: identity, versions, subresources, graceful deletion."""

import uuid
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from probelet.kube.kind import Kind

from tests.support.kube_api.applying import Owners
from tests.support.kube_api.patching import apply_json_patch, merge
from tests.support.kube_api.refusal import RefusalError
from tests.support.kube_api.store import Key, Object, Store

WITH_STATUS = {
    *("pods", "nodes", "namespaces", "poddisruptionbudgets"),
    *("nodepodprobes", "containerrecreaterequests", "podunavailablebudgets"),
}
KEPT = (
    *("uid", "name", "namespace", "creationTimestamp", "deletionTimestamp"),
    *("resourceVersion", "generation"),
)
"""Fields of the metadata that no client changes."""
WITH_GENERATION = {"poddisruptionbudgets", "nodepodprobes", "containerrecreaterequests", "podunavailablebudgets"}
"""Kinds whose ``metadata.generation`` counts the changes of their spec."""
GRACE_SECONDS = 30


class Writer:
    """Writes of clients, with the rules of the API server."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        obj = deepcopy(obj)
        metadata = obj.setdefault("metadata", {})
        if metadata.get("generateName") and not metadata.get("name"):
            metadata["name"] = metadata["generateName"] + uuid.uuid4().hex[:5]
        if not metadata.get("name"):
            raise RefusalError(422, "metadata.name: Required value: name or generateName is required")
        if metadata.get("resourceVersion"):
            raise RefusalError(400, "resourceVersion should not be set on objects to be created")
        if kind.namespaced:
            metadata["namespace"] = namespace
        key = (metadata.get("namespace", ""), metadata["name"])
        if self._store.get(kind, key) is not None:
            raise RefusalError(409, f'{kind.resource} "{metadata["name"]}" already exists', "AlreadyExists")
        metadata["uid"] = str(uuid.uuid4())
        metadata["creationTimestamp"] = _now()
        if kind.plural in WITH_GENERATION:
            metadata.setdefault("generation", 1)
        return self._store.write(kind, key, {"apiVersion": kind.api_version, "kind": kind.kind, **obj})

    def replace(self, kind: Kind, key: Key, subresource: str, obj: Object) -> Object:
        before = self._found(kind, key)
        return self._update(kind, key, subresource, before, deepcopy(obj))

    def patch(self, kind: Kind, key: Key, subresource: str, how: str, patch: Any) -> Object:
        before = self._found(kind, key)
        change = apply_json_patch if how == "json-patch" else merge
        after = change(deepcopy(before), patch)
        return self._update(kind, key, subresource, before, after, patched=True)

    def apply(self, kind: Kind, key: Key, subresource: str, applied: Object, manager: str, force: bool) -> Object:
        before = self._store.get(kind, key)
        uid = applied.get("metadata", {}).get("uid")
        if before is None:
            if subresource:
                raise self._unknown(kind, key)
            if uid:
                raise RefusalError(409, f"uid mismatch: the provided object specified uid {uid}, and none was found")
            created = self.create(kind, key[0], applied)
            self._store.owners[kind, key].apply({}, applied, manager, force)
            return created
        owners = self._store.owners[kind, key]
        after = owners.apply(before, applied, manager, force)
        after["metadata"] = {**before["metadata"], **after["metadata"], "uid": uid or before["metadata"]["uid"]}
        return self._update(kind, key, subresource, before, after, patched=True, owned=True)

    def delete(self, kind: Kind, key: Key, options: Object) -> Object:
        before = self._found(kind, key)
        metadata = before["metadata"]
        for field, wanted in (options.get("preconditions") or {}).items():
            if metadata[field] != wanted:
                raise RefusalError(409, f"Precondition failed: {field} is {metadata[field]}, not {wanted}")
        grace = options.get("gracePeriodSeconds")
        if kind.plural == "pods" and before.get("spec", {}).get("nodeName"):
            grace = before["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS) if grace is None else grace
        else:
            grace = 0
        if not grace and not metadata.get("finalizers"):
            return self._store.write(kind, key, None)
        after = deepcopy(before)
        after["metadata"].setdefault("deletionTimestamp", _now())
        after["metadata"]["deletionGracePeriodSeconds"] = grace
        return self._store.write(kind, key, after)

    def _update(
        self,
        kind: Kind,
        key: Key,
        subresource: str,
        before: Object,
        after: Object,
        *,
        patched: bool = False,
        owned: bool = False,
    ) -> Object:
        old, new = before["metadata"], after.setdefault("metadata", {})
        if new.get("uid") and new["uid"] != old["uid"]:
            if patched:
                message = f'metadata.uid: Invalid value: "{new["uid"]}": field is immutable'
                raise RefusalError(422, message, cause="FieldValueInvalid", field="metadata.uid")
            raise RefusalError(
                409, f"Precondition failed: UID in precondition: {new['uid']}, UID in object: {old['uid']}"
            )
        if new.get("resourceVersion") and new["resourceVersion"] != old["resourceVersion"]:
            raise RefusalError(409, "the object has been modified; please apply your changes to the latest version")
        for field in (
            "uid",
            "name",
            "namespace",
            "creationTimestamp",
            "deletionTimestamp",
            "resourceVersion",
            "generation",
        ):
            new.pop(field, None)
            if field in old:
                new[field] = old[field]
        if subresource == "status":
            after = {**{name: value for name, value in before.items() if name != "status"}, "metadata": new} | (
                {"status": after["status"]} if "status" in after else {}
            )
        elif kind.plural in WITH_STATUS:
            after = {name: value for name, value in after.items() if name != "status"} | (
                {"status": before["status"]} if "status" in before else {}
            )
        if kind.plural in WITH_GENERATION and after.get("spec") != before.get("spec"):
            after["metadata"] = {**after["metadata"], "generation": old.get("generation", 0) + 1}
        if not owned:
            self._store.owners.setdefault((kind, key), Owners()).wrote(before, after, "unknown")
        written = self._store.write(kind, key, after)
        if new.get("deletionTimestamp") and not new.get("finalizers") and not new.get("deletionGracePeriodSeconds"):
            return self._store.write(kind, key, None)
        return written

    def _found(self, kind: Kind, key: Key) -> Object:
        found = self._store.get(kind, key)
        if found is None:
            raise self._unknown(kind, key)
        return found

    def _unknown(self, kind: Kind, key: Key) -> RefusalError:
        return RefusalError(404, f'{kind.resource} "{key[1]}" not found')


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
