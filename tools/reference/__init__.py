"""The pages in docs/reference, generated from types and the command line, so that no page can differ from them."""
