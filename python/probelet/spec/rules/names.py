"""Syntax of names (apimachinery ``util/validation``, 1.36): each function returns the API server's messages."""

import ipaddress
import re
from collections.abc import Callable
from typing import TypeAlias

Rule: TypeAlias = Callable[[str], list[str]]

DNS1123_LABEL_LENGTH_MAX = 63
QUALIFIED_NAME_LENGTH_MAX = 63
DNS1123_SUBDOMAIN_LENGTH_MAX = 253
PORT_NAME_LENGTH_MAX = 15
LABEL_VALUE_LENGTH_MAX = 63

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = _LABEL + r"(\." + _LABEL + ")*"
_HEADER = "[-A-Za-z0-9]+"

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    # The two blanks before "or" are the API server's own.
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL_VALUE = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'({_LABEL_VALUE})?')"
)
_HEADER_TEXT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    f"(e.g. 'X-Header-Name', regex used for validation is '{_HEADER}')"
)
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_QUALIFIED_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    f"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_ENV_TEXT = "a valid environment variable name must consist only of printable ASCII characters other than '='"


def _too_long(text: str, length_max: int, unit: str = "characters") -> list[str]:
    """Counts bytes, as the API server does, even if ``unit`` says characters."""
    return [f"must be no more than {length_max} {unit}"] if len(text.encode()) > length_max else []


def dns1123_label(text: str) -> list[str]:
    """Checks the name of a container or a namespace."""
    errors = _too_long(text, DNS1123_LABEL_LENGTH_MAX)
    if not re.fullmatch(_LABEL, text):
        errors.append("must not contain dots" if re.fullmatch(_SUBDOMAIN, text) else _LABEL_TEXT)
    return errors


def dns1123_subdomain(text: str) -> list[str]:
    """Checks the name of a pod."""
    wrong = [] if re.fullmatch(_SUBDOMAIN, text) else [_SUBDOMAIN_TEXT]
    return _too_long(text, DNS1123_SUBDOMAIN_LENGTH_MAX) + wrong


def pod_uid(text: str) -> list[str]:
    """Checks a UID: it becomes the value of a label, and a part of a directory's name.

    The API server makes UIDs itself, so it has no rule for one in a manifest; the rule for the value of a label admits
    all that it makes, and no path.
    """
    wrong = [] if re.fullmatch(_LABEL_VALUE, text) else [_LABEL_VALUE_TEXT]
    return _too_long(text, LABEL_VALUE_LENGTH_MAX) + wrong


def port_number(number: int) -> list[str]:
    """Checks for 1 to 65535."""
    return [] if 1 <= number <= 65535 else ["must be between 1 and 65535, inclusive"]


def port_name(text: str) -> list[str]:
    """Checks an IANA service name; one name can break several rules."""
    wrong = _too_long(text, PORT_NAME_LENGTH_MAX, "bytes")
    if not re.fullmatch("[-a-z0-9]+", text):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in text:
        wrong.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def http_header_name(text: str) -> list[str]:
    """Checks the name of a header that a probe sends."""
    return [] if re.fullmatch(_HEADER, text) else [_HEADER_TEXT]


def env_name(text: str) -> list[str]:
    """Checks the name of an environment variable (the relaxed rule, GA in 1.34)."""
    return [] if re.fullmatch("[ -<>-~]+", text) else [_ENV_TEXT]


def qualified_name(text: str) -> list[str]:
    """Checks the key of a label or an annotation, and the name of a condition or a gate: ``[PREFIX/]NAME``."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        optional = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_QUALIFIED_TEXT}{optional}"]
    errors = []
    if slash:
        texts = dns1123_subdomain(prefix) if prefix else ["must be non-empty"]
        errors += [f"prefix part {wrong}" for wrong in texts]
    texts = _too_long(name, QUALIFIED_NAME_LENGTH_MAX) if name else ["must be non-empty"]
    if not re.fullmatch(_QUALIFIED, name):
        texts.append(_QUALIFIED_TEXT)
    return errors + [f"name part {wrong}" for wrong in texts]


def config_key(text: str) -> list[str]:
    """Checks a key of a ConfigMap or a Secret: a volume makes it the name of a file."""
    wrong = _too_long(text, DNS1123_SUBDOMAIN_LENGTH_MAX)
    if not re.fullmatch(_CONFIG_KEY, text):
        wrong.append(_CONFIG_KEY_TEXT)
    if text in (".", ".."):
        wrong.append(f"must not be '{text}'")
    elif text.startswith(".."):
        wrong.append("must not start with '..'")
    return wrong


def ip_address(text: str) -> list[str]:
    """Checks an IPv4 or IPv6 address (``parseIP`` with the gate StrictIPCIDRValidation, on since 1.36)."""
    # Only this parser of Go's accepts zeros in front of an IPv4 number.
    plain = re.sub(r"(?<![0-9a-fA-F:])0+(?=[0-9])", "", text) if "." in text else text
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        address = None
    if address is None or "%" in text:
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    wrong = [] if plain == text else ["must not have leading 0s"]
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        wrong.append("must not be an IPv4-mapped IPv6 address")
    return wrong
