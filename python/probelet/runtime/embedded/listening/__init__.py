"""Which program answers at a pod's address: the machine's listening sockets and the processes that hold them."""
