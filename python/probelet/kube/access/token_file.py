"""A bearer token in a file that its owner replaces, as the kubelet does with the token of a service account."""

from collections.abc import Generator
from pathlib import Path
from typing import Final

import httpx2

from probelet.base.files.regular_file import read_regular
from probelet.errors import ProbeletError

TOKEN_BYTES_MAX: Final = 64 * 1024
"""A token of a service account has about one kilobyte; more than this would not fit into a request's headers."""


class CredentialError(ProbeletError):
    """A request has no credentials; the text says which file or program should have given them."""


class TokenFile(httpx2.Auth):
    """Sends the token of a file.

    Each request looks whether the file is another one, and a 401 reads it again: the kubelet replaces it after 80 % of
    its life. A file that cannot be read is no reason to give up a token that still works (client-go
    transport/token_source.go, 1.36, which reads once a minute).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._token = ""
        self._stamp: tuple[int, ...] = ()

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """The flow of the HTTP library: a request, and for a 401 with another token in the file a second one."""
        self._read(again=False)
        sent = self._token
        request.headers["Authorization"] = f"Bearer {sent}"
        response = yield request
        if response.status_code == 401:
            self._read(again=True)
            if self._token != sent:
                request.headers["Authorization"] = f"Bearer {self._token}"
                yield request

    def _read(self, *, again: bool) -> None:
        try:
            found = self._path.stat()
            stamp = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp == self._stamp and not again:
                return
            data = read_regular(self._path, TOKEN_BYTES_MAX)
            token = data.decode("ascii").strip()
            if not token or len(data) > TOKEN_BYTES_MAX or not token.isprintable():
                raise ValueError("no token")
            self._token, self._stamp = token, stamp
        except (OSError, ValueError) as error:
            if not self._token:
                reason = error.strerror if isinstance(error, OSError) else "the file has no token"
                raise CredentialError(f"token file {self._path}: {reason}") from error
