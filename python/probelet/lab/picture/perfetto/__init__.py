"""A simulation as a trace for Perfetto (https://ui.perfetto.dev), in the TrackEvent format: nothing is merged here."""

from probelet.lab.picture.perfetto.tracks import trace

__all__ = ["trace"]
