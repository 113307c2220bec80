"""Recognises that starts or answers take longer with a new release of an image than with the one before.

Pure: samples and a limit in, a comparison out. ``run`` and ``agent`` give it the starts that they see, ``lint
--observed`` those of recordings and of Prometheus. It imports nothing else of the policy.

Laws
 1. Few samples say nothing, and chance is no drift: the samples of both releases are compared by their ranks, which one
    odd start does not change.
 2. Work and memory are bounded: the newest samples of two releases, of so many containers.
"""

from probelet.policy.drift.compare import SAMPLES_MIN, Compared, compare, percentile
from probelet.policy.drift.starts import Drift, Starts

__all__ = ["SAMPLES_MIN", "Compared", "Drift", "Starts", "compare", "percentile"]
