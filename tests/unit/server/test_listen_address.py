import socket

import pytest
from probelet.server.address import Address, listening_socket, parse_address
from probelet.server.error import ServerError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:10290", Address("127.0.0.1", 10290)),
        ("localhost:0", Address("localhost", 0)),
        ("[::1]:65535", Address("::1", 65535)),
    ],
)
def test_an_address_parses_and_prints_alike(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10290", "want HOST:PORT"),
        (":10290", "want HOST:PORT"),
        ("::1:10290", "want HOST:PORT"),
        ("127.0.0.1:", "port '' is not a number from 0 to 65535"),
        ("127.0.0.1:65536", "port '65536' is not a number from 0 to 65535"),
        ("127.0.0.1:-1", "port '-1' is not a number"),
        ("127.0.0.1:\u0663", "is not a number"),
        ("", "want HOST:PORT"),
    ],
)
def test_a_bad_address_is_one_line_that_names_the_option(text: str, words: str) -> None:
    with pytest.raises(ServerError) as error:
        parse_address(text)
    assert str(error.value).startswith(f"--listen {text!r}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_taken_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerError) as error:
            listening_socket(Address("127.0.0.1", port))
    assert str(error.value) == (f"--listen 127.0.0.1:{port}: the port is taken; choose another, or 0 for any free port")


def test_an_address_of_another_machine_is_one_line() -> None:
    with pytest.raises(ServerError, match=r"^--listen 192\.0\.2\.1:0: Cannot assign requested address$"):
        listening_socket(Address("192.0.2.1", 0), allow_remote=True)


def test_an_unknown_host_is_one_line() -> None:
    with pytest.raises(ServerError, match=r"^--listen no-such-host\.invalid:1: no such host: "):
        listening_socket(Address("no-such-host.invalid", 1))
