"""What the latest run of each side came to, in a file for each; docs/upstream-e2e.md is rendered from them."""
