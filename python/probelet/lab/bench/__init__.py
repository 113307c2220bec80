"""Measures the cost of the prober, for ``probelet bench`` and the benchmarks in ``benches/``."""
