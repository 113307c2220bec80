"""One API server for all tests of this folder. Each test has a namespace of its own."""

import re
from collections.abc import Iterator

import pytest

from tests.support.paths import ROOT
from tests.support.required import missing
from tests.system.admission.api_server import ApiServer, what_is_missing
from tests.system.admission.client import Refused
from tests.system.admission.objects import ADMISSION, KRUISE, POLICIES, documents, pod, pods_of, until


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    if why := what_is_missing():
        missing("kubernetes", why)
    server = ApiServer(tmp_path_factory.mktemp("kubernetes"))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def namespace(api: ApiServer, request: pytest.FixtureRequest) -> str:
    """The name of a new namespace."""
    words = re.sub("[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))[:50].strip("-")
    made = api.admin.create("/api/v1/namespaces", {"metadata": {"generateName": f"{words}-"}})
    return str(made["metadata"]["name"])


@pytest.fixture(scope="package")
def policy(api: ApiServer) -> Iterator[None]:
    """The policies as people apply them; the one about pods is in force, and a test waits for each other one."""
    kinds = {
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
        "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    }
    made = [(kinds[document["kind"]], document) for path in POLICIES for document in documents(path)]
    for kind, document in made:
        api.admin.create(f"{ADMISSION}/{kind}", document)
    canary = f"{pods_of('default')}/canary"
    api.admin.create(pods_of("default"), pod("canary"))
    until(lambda: not _takes(api, canary), "the policy")
    yield
    for kind, document in made:
        api.admin.delete(f"{ADMISSION}/{kind}/{document['metadata']['name']}")


@pytest.fixture(scope="package")
def kinds(api: ApiServer) -> None:
    """The kinds of enhanced liveness as people apply them, served."""
    for name in ("nodepodprobes", "containerrecreaterequests"):
        for document in documents(ROOT / "deploy" / "crds" / f"{name}.yaml"):
            api.admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", document)

    def is_served() -> bool:
        try:
            api.admin.get(f"{KRUISE}/nodepodprobes")
            api.admin.get(f"{KRUISE}/containerrecreaterequests")
        except Refused:
            return False
        return True

    until(is_served, "the kinds of enhanced liveness")


def _takes(api: ApiServer, path: str) -> bool:
    try:
        api.admin.patch(f"{path}?dryRun=All", {"metadata": {"annotations": {"probelet.dev/probes": "{}"}}})
    except Refused:
        return False
    return True
