"""The API server of a Kubernetes cluster: one connection, a mirror of objects, events, leases, server-side apply.

The package knows no rule about pods, no engine and no container runtime. Objects are dicts as the API server writes
them; ``Reflector`` makes its caller's own types of them at once, because pods as dicts need ten times the memory.

The API server is mirrored, and every end of a watch is planned for
-------------------------------------------------------------------
``kube`` uses lightkube for the kubeconfig's model, certificates and credentials, and its HTTP library (httpx2) for
the requests. The requests themselves are made in ``kube/connection.py``, because lightkube's watch raises a refused
connection past its own handler, repeats a version that a 410 has declared dead, forgets deletions after a 410 in the
stream, and cannot ask for bookmarks; because its delete has no preconditions; and because its typed objects would
keep pods in memory whole. No error of these libraries leaves the package: a caller gets one class for each thing it
may do next (``kube/error.py``), with one line that names verb, resource and object, and with the server's
``Retry-After``. The connection tries nothing again, because only the caller knows what happened meanwhile;
``kube/pace.py`` says how long to wait, with client-go's numbers.

``kube/mirror.py`` is the state without I/O: lists and events come in, changes go out. Its laws are at its top. The
main one is that taking the changes one after another leads from nothing to the server's objects, without a gap and
without a repetition, and that two objects of one name are a deletion and an addition. ``kube/reflector.py`` is the
loop around it:

- 410, as a status or in the stream, or an answer that makes no sense: lists again and compares, so deletions are seen.
- Refused, closed, 401, 403, 429, 5xx: backs off, asks whether the server is older than the mirror, goes on from its
  version.
- The server is older than the mirror, as after a restore of etcd: lists again; versions that come a second time are
  compared by value.
- A clean end of the watch: goes on at once, or backs off if the watch lasted less than a second.
- Silence for three minutes: replaces the watch; this is no failure.
- An object that the caller's decoder refuses: keeps its last version, with one line of the log.

Silence is no failure because a kube-apiserver sends bookmarks only while something of the kind changes somewhere; the
kernel's keep-alive finds a dead peer within 45 seconds. A watch from a version that the server has yet to reach is
accepted in silence, which is why the reflector asks after each failure. Both were measured against 1.36.3
(``tests/system/kube/``), and so was that an apply with the UID of another object is a 422, which ``kube`` makes a
Conflict.

A property test plays random histories of changes, faults and clocks against an API server in the test's process
(``tests/support/kube_api/``), on real HTTP and in virtual time: everything in ``kube`` that waits gets its clock.

Events are correlated by the same ``Correlator`` for the node's own pages and for the API, so the two agree on counts.
A full queue loses its oldest event, where client-go drops the newest: after an outage the last state is the useful
one. Leader election is a decision without I/O (``kube/lease/election.py``), and a test with random clocks of two
candidates holds it to its law; the runner cancels and awaits the leader's work before it releases the lease.
"""
