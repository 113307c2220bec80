"""Fills the rows of a ``probelet-simulate/1`` document from the history of a cluster, within the document's bounds."""
