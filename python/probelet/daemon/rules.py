"""The options for pods that callers hand over, the same for ``serve`` and ``run --serve``."""

from probelet.config.load import Config
from probelet.service.rules import Rules


def rules(configuration: Config) -> Rules:
    """The options of a configuration."""
    opted = configuration.probelet
    return Rules(deny_hosts=opted.deny_host_probes, event_wording=opted.event_wording, gates=configuration.gates)
