"""Generated messages of ``probelet.v1`` (``make proto`` writes them from ``proto/probelet/v1/prober.proto``)."""
