"""The certificate of the webhook's server: from files, or with an authority of its own that is kept in one Secret.

``served`` holds the certificate in use and says whether the server is ready. ``files`` and ``self_signed`` are the two
sources; each runs for as long as the server and hands over a new certificate when there is one.
"""
