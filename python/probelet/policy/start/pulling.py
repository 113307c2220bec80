"""How the image of a container gets onto the node before every start.

Kubelet pkg/kubelet/images/image_manager.go:EnsureImageExists, 1.36, with its reasons and texts. No pull has
credentials, so the kubelet's check of a present image (KubeletEnsureSecretPulledImages) always passes.
"""

from probelet.policy import messages
from probelet.policy.node.restart_gate import Wait
from probelet.policy.protocol.effects import InspectImage, Outcome, PullImage
from probelet.policy.start.image_backoff import ImageBackoff
from probelet.policy.status.container_status import StartError
from probelet.policy.strands.context import PodContext
from probelet.policy.strands.strand import Strand, call
from probelet.spec.model.container import Container
from probelet.spec.text.image import ImageNameError, with_tag


class Pulling:
    """Strands that make images of one pod present."""

    def __init__(self, context: PodContext) -> None:
        self._context = context
        self._backoff = ImageBackoff()

    def ensure(self, container: Container, sandbox_id: str) -> Strand[str | StartError | tuple[Wait, StartError]]:
        """The image to create the container from, or the error; with a wait while pulls are in back-off."""
        context, name, written = self._context, container.name, container.image
        try:
            image = with_tag(written)
        except ImageNameError as error:
            text = messages.bad_image_name(written, str(error))
            context.record("Warning", messages.INSPECT_FAILED, text, name)
            return StartError(messages.INVALID_IMAGE_NAME, text)
        if container.image_pull_policy != "Always":
            (found,) = yield from call(InspectImage(image))
            if found.error:
                text = messages.inspect_failed(image, found.error)
                context.record("Warning", messages.INSPECT_FAILED, text, name)
                return StartError(messages.IMAGE_INSPECT_ERROR, text)
            if found.id:
                context.record("Normal", messages.PULLED, messages.image_present(written), name)
                return found.id
            if container.image_pull_policy == "Never":
                text = messages.never_pulled(written)
                context.record("Warning", messages.ERR_IMAGE_NEVER_PULL, text, name)
                return StartError(messages.ERR_IMAGE_NEVER_PULL, text)
        return (yield from self._pull(name, written, image, sandbox_id))

    def _pull(
        self, name: str, written: str, image: str, sandbox_id: str
    ) -> Strand[str | StartError | tuple[Wait, StartError]]:
        context = self._context
        waiting = self._backoff.wait(written, context.now)
        if waiting is not None:
            text = messages.back_off_pulling(written)
            context.record("Normal", messages.BACK_OFF, text, name)
            said = f"{text}: {self._backoff.error(written)}"
            return Wait(*waiting, "pull"), StartError(messages.IMAGE_PULL_BACK_OFF, said)
        context.record("Normal", messages.PULLING, messages.pulling(written), name)
        (pulled,) = yield from call(PullImage(image, sandbox_id))
        if not pulled.error:
            pull = pulled.pull
            text = messages.pulled(written, pull.took_ns, pull.with_wait_ns, pull.size)
            context.record("Normal", messages.PULLED, text, name)
            return pulled.id
        error = _words(pulled)
        context.record("Warning", messages.FAILED, messages.pull_failed(written, error), name)
        failure = _reason(written, error)
        self._backoff.failed(written, f"{failure.reason}: {failure.message}", context.now)
        return failure


def _words(outcome: Outcome) -> str:
    """The kubelet leaves the code away where it says nothing (cri-client remote_image.go:PullImage, 1.36)."""
    return outcome.detail if outcome.error.startswith("rpc error: code = Unknown ") else outcome.error


def _reason(image: str, error: str) -> StartError:
    """A runtime may begin its words with an error the kubelet knows (image_manager.go:evalCRIPullErr, 1.36)."""
    for reason, cause in messages.PULL_ERRORS.items():
        if error.startswith(reason):
            return StartError(reason, f"image pull failed for {image} because {cause}{error.removeprefix(reason)}")
    return StartError(messages.ERR_IMAGE_PULL, error)
