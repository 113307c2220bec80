"""The man pages, generated from the help of the command line, so that a page cannot differ from it."""
