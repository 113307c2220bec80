"""All built-in scenarios, one line each."""

from dataclasses import replace

from probelet.base.words import seconds, share
from probelet.cli.columns import columns
from probelet.cli.simulate.request import Request, played
from probelet.cli.simulate.text import recovery
from probelet.lab.picture.document import SimulateDocument

HEAD = ["scenario", "unready", "kills", "lost", "", "outage", "recovers"]


def table(request: Request) -> list[str]:
    """A table with a line for each scenario, and how to see more."""
    from probelet.lab.scenario import builtin_names

    rows: list[list[str]] = []
    for name in builtin_names():
        document = played(replace(request, advise=False), name)
        if document["played_seconds"] < document["scenario"]["duration_seconds"]:
            rows.append(["(interrupted)", *[""] * (len(HEAD) - 1)])
            break
        rows.append(_row(document))
    return [*columns([HEAD, *rows]), "", f"more about one: {request.command('NAME')}"]


def _row(document: SimulateDocument) -> list[str]:
    verdict = document["verdict"]
    requests = verdict["requests"]
    wanted = sum(max(service["series"]["wanted"], default=0) for service in document["services"])
    outage = verdict["longest_outage_seconds"]
    return [
        document["scenario"]["name"],
        f"{verdict['unready_pods_max']} of {wanted}",
        str(verdict["kills"]),
        f"{requests['lost']:,}",
        share(requests["lost"], requests["offered"]) if requests["lost"] else "",
        seconds(outage) if outage else "-",
        recovery(verdict, document["scenario"]["faults"]),
    ]
