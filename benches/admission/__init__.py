"""What an admission request costs: ``make bench-webhook``."""
