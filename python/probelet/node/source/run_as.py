"""``run --user``: the user of this machine as which the programs of manifests run on the embedded runtime."""

from msgspec.structs import replace

from probelet.spec.model.container import Container
from probelet.spec.model.pod import Pod
from probelet.spec.model.security_context import SecurityContext


def run_as(pod: Pod, uid: int) -> Pod:
    """The pod with this user for each container, whatever its manifest asks for: a manifest must not become root."""
    context = SecurityContext(run_as_user=uid)

    def changed(container: Container) -> Container:
        return replace(container, security_context=context)

    spec = pod.spec
    return replace(
        pod,
        spec=replace(
            spec,
            security_context=None,
            init_containers=[changed(each) for each in spec.init_containers],
            containers=[changed(each) for each in spec.containers],
        ),
    )
