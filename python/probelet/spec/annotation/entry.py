"""Annotations of ours that address single containers: ``<container>=<text>`` entries separated by commas."""

from probelet.spec.model.pod import Pod
from probelet.spec.text.problem import FieldError


def container_entries(pod: Pod, annotation: str, wanted: str) -> tuple[dict[str, str], list[FieldError]]:
    """The text of each container's entry. ``wanted`` is an example for the error messages."""
    text = pod.metadata.annotations.get(annotation)
    if text is None:
        return {}, []
    path = f"metadata.annotations[{annotation}]"
    names = {container.name for container in (*pod.spec.containers, *pod.spec.init_containers)}
    entries: dict[str, str] = {}
    errors = []
    for entry in text.split(","):
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not (equals and value):
            errors.append(FieldError(path, "Invalid value", entry.strip(), f"must be a list such as {wanted}"))
        elif name not in names:
            errors.append(FieldError(path, "Invalid value", entry.strip(), "the pod has no such container"))
        elif name in entries:
            errors.append(FieldError(path, "Duplicate value", name))
        else:
            entries[name] = value
    return entries, errors
