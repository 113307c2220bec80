"""The outputs of the detector, in words for a timeline, an event or a log."""

from probelet.policy.incidents.outputs import Began, Ended, Grew, Incident, Output, Reclassified


def telling(output: Output) -> str | None:
    """One sentence without the incident's id; None for mere growth."""
    incident = output.incident
    match output:
        case Began():
            return f"begins: {incident.title}: {incident.evidence}"
        case Reclassified():
            return f"is {incident.title}: {incident.evidence}"
        case Ended(Incident(merged_into=other)) if other:
            return f"is part of incident {other}"
        case Ended():
            nothing = f", {incident.killed_for_nothing} for nothing" if incident.killed_for_nothing else ""
            return f"is over: {incident.title}: {incident.killed} kills{nothing}"
        case Grew():
            return None
