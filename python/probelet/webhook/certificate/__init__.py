"""The certificate of the webhook's server: from files, or with an authority of its own that is kept in one Secret.

``served`` holds the certificate in use and says whether the server is ready. ``files`` and ``self_signed`` are the two
sources; each runs for as long as the server and hands over a new certificate when there is one.

The certificate of the webhook's own comes from the extension
-------------------------------------------------------------
Python's standard library makes no certificates. The package ``cryptography`` would be the largest dependency of the
webhook, with an OpenSSL of its own; ``openssl(1)`` is not in the image. The engine already has ring, and the bench
target rcgen, which writes certificates with it; so ``certificate`` in the engine makes them, at 160 KiB of the
extension and no new line in the lock file. Dates are read by the parser that probes need anyway. Whether a
certificate serves its names is tried out, by a handshake in memory with the authority as the only trusted one, dates
left aside because time is an argument there.

The authority's key is kept in the Secret beside the server's, so that a renewal changes no caBundle. A new authority
is trusted beside the old one, and its certificate is used only after the caBundle has it. A key is never in a file:
OpenSSL reads it from a memfd, so the root file system may be read-only.
"""
