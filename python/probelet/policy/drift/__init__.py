"""Recognises that starts or answers take longer with a new release of an image than with the one before.

Pure: samples and a limit in, a comparison out. ``run`` and ``agent`` give it the starts and answers that they see,
``lint --observed`` those of recordings and of Prometheus. It imports nothing else of the policy.

Laws
 1. Few samples say nothing, and chance is no drift: the samples of both releases are compared by their ranks, which one
    odd sample does not change.
 2. Work and memory are bounded: the newest samples of two releases, of so many containers and probes.
"""

from probelet.policy.drift.answers import Answers
from probelet.policy.drift.compare import SAMPLES_MIN, Compared, compare, percentile
from probelet.policy.drift.releases import Drift, Measured, Releases
from probelet.policy.drift.words import rise

__all__ = ["SAMPLES_MIN", "Answers", "Compared", "Drift", "Measured", "Releases", "compare", "percentile", "rise"]
