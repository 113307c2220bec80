"""``python -m tests.cluster.guarded.plot`` draws the record of the bad rollout into docs/plots/bad-rollout-real.svg."""

import json
import sys

from probelet.lab.picture.chart.compared import Panel, Series, compared

from tests.cluster.guarded.test_bad_rollout import RECORD
from tests.support.paths import ROOT

PICTURE = ROOT / "docs" / "plots" / "bad-rollout-real.svg"
NAMES = {"guarded": "enhanced liveness", "native": "the kubelet alone"}


def main() -> int:
    if not RECORD.exists():
        sys.stderr.write(f"no {RECORD}: make e2e-cluster writes it\n")
        return 1
    record = json.loads(RECORD.read_text())
    panels = [
        Panel(title, [Series(name, record[play][key]) for play, name in NAMES.items()])
        for title, key in (("Ready pods", "ready"), ("Restarts", "restarts"))
    ]
    seconds = max(points[-1][0] for play in NAMES for points in record[play].values())
    mark = (record["breaker_off_at"], "only the budget limits")
    title = f"A liveness probe that always fails is rolled out to {record['replicas']} real pods"
    PICTURE.write_text(compared(title, panels, seconds, mark))
    sys.stdout.write(f"{PICTURE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
