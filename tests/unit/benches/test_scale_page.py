"""docs/cluster/scale.md is what its results say."""

import json

from benches.controller.page import ENTRIES, NODES, PAGE, RESULTS, render


def test_the_page_is_rendered_from_the_results() -> None:
    assert PAGE.read_text() == render(json.loads(RESULTS.read_text()))


def test_what_is_calculated_follows_from_what_was_measured() -> None:
    found = json.loads(RESULTS.read_text())
    rss = found["cluster"]["rss_mib"]
    rss.update(empty=50.0, with_nodes=50.0 + found["cluster"]["nodes"] / 1024)
    rss["with_pods"] = rss["with_nodes"] + 3 * found["cluster"]["pods"] / 1024
    page = render(found)
    assert f"| {NODES:,} x 1.0 KiB | {NODES / 1024:,.0f} MiB |" in page
    assert f"| {NODES * ENTRIES:,} x 3.0 KiB | {3 * NODES * ENTRIES / 1024:,.0f} MiB |" in page
