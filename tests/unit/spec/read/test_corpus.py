"""Manifests that people wrote, in 31 public repositories: probelet reads them all, and refuses only what an API server
would refuse. The folder is not a part of the project; ``shared/corpus`` beside a folder above the repository has it."""

import json

import pytest
from probelet.spec import load
from probelet.spec.rules.unsupported import DETAIL

from tests.support.paths import ROOT

CORPUS = next((path for parent in ROOT.parents if (path := parent / "shared" / "corpus").is_dir()), None)

pytestmark = pytest.mark.skipif(CORPUS is None, reason="no folder shared/corpus with other people's manifests")

# Files with mistakes, and what each mistake quotes: placeholders, and values that a tool has yet to put in.
REFUSED = {
    "kubernetes+ingress-gce/docs/deploy/resources/glbc-l4.yaml": '["IMAGE_URL"]: must be a string',
    "kubernetes+ingress-gce/docs/deploy/resources/glbc-neg.yaml": '["IMAGE_URL"]: must be a string',
    "zalando-incubator+kubernetes-on-aws/cluster/manifests/kube-state-metrics/deployment.yaml": '"{{.Cluster.',
    "zalando-incubator+kubernetes-on-aws/cluster/manifests/metrics-server/deployment.yaml": '"{{.Cluster.',
}


def test_every_manifest_of_the_corpus_is_read_and_none_is_refused_wrongly() -> None:
    assert CORPUS is not None
    folder = CORPUS / "manifests"
    wrong: dict[str, set[str]] = {}
    lacking: set[str] = set()
    probes: set[tuple[str, str, str, str]] = set()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, found = str(path.relative_to(folder)), load([path])
        for error in found.errors:
            if error.message.endswith(DETAIL):
                # A feature that this version lacks is no mistake of the manifest.
                lacking.add(name)
            else:
                wrong.setdefault(name, set()).add(error.message)
        for manifest in found.pods:
            for _, container in manifest.pod.spec.each_container():
                probes |= {(name, str(manifest.object), container.name, type_) for type_ in container.probes}
    assert set(wrong) == set(REFUSED)
    assert all(REFUSED[name] in message for name, messages in wrong.items() for message in messages)
    written = {
        (
            f"{row['repo'].replace('/', '+')}/{row['path']}",
            row["object"].replace("/", " "),
            row["container"],
            row["type"],
        )
        for row in map(json.loads, (CORPUS / "probes.jsonl").read_text().splitlines())
    }
    unread = {(name, owner) for name, owner, *_ in written - probes if name not in lacking and name not in REFUSED}
    # A template in a resource of another group.
    assert {owner.partition(" ")[0] for _, owner in unread} <= {"ClusterServingRuntime"}
