"""The probes of changed manifests, and the pods of a recording that they are for."""

from collections.abc import Iterable, Iterator

from probelet.lab.recording import Change, Numbers, RecordedPod, Recording
from probelet.lab.whatif.changes import Changes, SettingError, asked_for, places
from probelet.spec.model.container import Container
from probelet.spec.model.probe import PROBE_TYPES, Probe, ProbeType
from probelet.spec.model.probe_options import options_of
from probelet.spec.read.load import Manifest


def changes_of_manifests(recording: Recording, manifests: Iterable[Manifest]) -> Changes:
    """The changes that make the recorded probes those of the manifests.

    A manifest is for the recorded pod of its name, or for those of its workload. Raises SettingError if no recorded pod
    is any manifest's, or if such a pod has no container of its manifest.
    """
    manifests = list(manifests)
    found: Changes = {}
    has_pod = False
    for place, pod in places(recording):
        manifest = next((each for each in manifests if is_of(each, pod)), None)
        if manifest is None:
            continue
        has_pod = True
        if changes := list(_differences(pod, manifest)):
            found[place] = changes
    if not has_pod:
        names = ", ".join(sorted({f"{pod.namespace}/{pod.name}" for _, pod in places(recording)})[:5])
        raise SettingError(f"--change: no pod of the manifests is in the recording; it has {names or 'no pod'}")
    return found


def is_of(manifest: Manifest, pod: RecordedPod) -> bool:
    """Whether a recorded pod is a manifest's, or one of its workload."""
    meta = manifest.pod.metadata
    if (meta.namespace, meta.name) == (pod.namespace, pod.name):
        return True
    workload = manifest.object
    return (
        workload is not None
        and workload.kind != "Pod"
        and workload.namespace == pod.namespace
        and pod.name.startswith(f"{workload.name}-")
    )


def _differences(pod: RecordedPod, manifest: Manifest) -> Iterator[Change]:
    spec = manifest.pod.spec
    wanted = {container.name: container for container in (*spec.containers, *(spec.init_containers or ()))}
    recorded = [container.name for container in pod.containers]
    if recorded and not wanted.keys() & set(recorded):
        has = f"the manifest has {', '.join(wanted)}, the recording {', '.join(recorded)}"
        raise SettingError(f"--change: {pod.namespace}/{pod.name} has no container of its manifest: {has}")
    for container in pod.containers:
        new = wanted.get(container.name)
        for type_ in PROBE_TYPES if new is not None else ():
            assert new is not None
            numbers = _numbers(new, type_)
            if numbers != container.probes.get(type_):
                yield Change(container.name, type_, numbers)


def _numbers(container: Container, type_: ProbeType) -> Numbers | None:
    probe: Probe | None = getattr(container, f"{type_}_probe")
    if probe is None:
        return None
    options = options_of(probe)
    fields = (field for field in Numbers.__struct_fields__ if field != "options")
    numbers: dict[str, int] = {field: getattr(probe, field) for field in fields}
    return Numbers(**numbers, options=asked_for(options))
