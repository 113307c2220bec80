"""Long runs that end in a verdict: mixed probes (``make soak``), and real containers under random kills."""
