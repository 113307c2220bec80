"""Generated messages of ``runtime.v1`` (``make proto`` writes them from ``proto/runtime/v1/api.proto``)."""
