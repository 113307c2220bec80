"""``make install`` and ``make uninstall``: probelet for a whole machine, below PREFIX, staged below DESTDIR."""
