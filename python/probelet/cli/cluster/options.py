"""Options of the verbs that talk to an API server."""

from typing import Annotated

from cyclopts import Parameter

from probelet.cli.options import NamedPath

Kubeconfig = Annotated[
    NamedPath | None,
    Parameter(
        name="--kubeconfig",
        metavar="FILE",
        help="Kubeconfig file. Default: $KUBECONFIG, then the pod's service account, then ~/.kube/config.",
    ),
]
Context = Annotated[str, Parameter(name="--context", metavar="NAME", help="Context of the kubeconfig file.")]
Namespace = Annotated[str, Parameter(name="--namespace", metavar="NAME", help="Namespace of probelet's own objects.")]

CoexistKruise = Annotated[
    bool, Parameter(name="--coexist-kruise", negative="", help="OpenKruise's manager runs in this cluster, too.")
]
