"""What a prober costs, measured: ``probelet bench`` and the suite in ``benches/`` stand on this."""
