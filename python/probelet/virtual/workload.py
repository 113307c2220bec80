"""How the containers of a scene behave, and how long the runtime takes for its calls."""

from probelet.policy.protocol.effects import Effect, KillContainer, Pull, PullImage
from probelet.spec.model.pod import Pod


class Workload:
    """The defaults: no call takes time or fails, every image is there, and every container runs until it is killed.

    A scene overrides the parts that it is about. Times are nanoseconds.
    """

    def takes_ns(self, pod: Pod, effect: Effect) -> int:
        """How long the runtime takes for an effect that is no kill."""
        return 0

    def ends_ns(self, pod: Pod, effect: KillContainer) -> int:
        """How long a container runs on after SIGTERM; when its grace is over it is killed anyway."""
        return 0

    def error(self, pod: Pod, effect: Effect) -> str:
        """The runtime's words for why an effect fails; empty if it succeeds."""
        return ""

    def runs_ns(self, pod: Pod, name: str) -> int | None:
        """After how long a container that starts now ends by itself; None if it runs on."""
        return None

    def ended(self, pod: Pod, name: str) -> None:
        """A container has ended now, by itself or because it was killed."""

    def exit_code(self, pod: Pod, name: str) -> int:
        """The exit code of a container that ends by itself now."""
        return 0

    def image_present(self, image: str) -> bool:
        """Whether the node has the image."""
        return True

    def pulled(self, effect: PullImage) -> Pull:
        """The duration and the size of a pull that succeeded."""
        return Pull()
