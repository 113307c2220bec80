"""Options that both verbs have."""

from typing import Annotated

from cyclopts import Parameter
from probelet.cli.options import KubeletVersion

RecordedVersion = Annotated[
    KubeletVersion | None,
    Parameter(
        name="--kubelet-version",
        help="Kubelet release whose rules to follow. Default: the release that each recording was made with.",
    ),
]
