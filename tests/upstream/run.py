"""One run of the suite: a cluster for it alone, upstream's tests against it, and what became of their pods."""

import shutil
import subprocess
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.control_plane.plane import ADMIN
from tests.cluster.record.notes import Notes
from tests.support.paths import BUILD
from tests.upstream.images.build import build as build_images
from tests.upstream.programs import Programs
from tests.upstream.selection.selection import Selection
from tests.upstream.side import Side

OUT = BUILD / "upstream"
REPORT, JUNIT, PODS = "report.json", "junit.xml", "pods.jsonl"
LIMIT = "60m"


def play(side: Side, programs: Programs, chosen: Selection, processes: int) -> Path:
    """Returns the folder with ginkgo's reports, the notes and the logs. Raises RuntimeError if there is no report."""
    out = OUT / side.value
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    build_images(programs, out / "images.tar")
    cluster = Cluster()
    try:
        cluster.start()
        cluster.runtime.import_image(out / "images.tar")
        side.prepare(cluster)
        api = cluster.api.as_user(ADMIN)
        notes = [Notes(api, f"/api/v1/{kind}", out / f"{kind}.jsonl") for kind in ("pods", "events")]
        for one in notes:
            one.start()
        _ginkgo(cluster, programs, chosen, processes, out)
        for one in notes:
            one.end()
        cluster.keep_logs(out / "logs")
    finally:
        cluster.stop()
    if not (out / REPORT).exists():
        raise RuntimeError(f"ginkgo wrote no report: {out / 'log'}")
    return out


def _ginkgo(cluster: Cluster, programs: Programs, chosen: Selection, processes: int, out: Path) -> None:
    """Its exit code says that a test failed, as its report does."""
    flags = [f"--procs={processes}", f"--timeout={LIMIT}", "--no-color", "--silence-skips", "--keep-going"]
    flags += [f"--output-dir={out}", f"--junit-report={JUNIT}", f"--json-report={REPORT}", *chosen.flags()]
    tests = [f"--kubeconfig={cluster.control.kubeconfig}", "--provider=skeleton", "--num-nodes=1"]
    # Upstream's framework waits for the pods of kube-system, and this cluster has none.
    tests += ["--allowed-not-ready-nodes=-1"]
    command = [*cluster.space.inside, str(programs.ginkgo), *flags, str(programs.tests), "--", *tests]
    with (out / "log").open("wb") as log:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
