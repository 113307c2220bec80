"""The user of this machine as which a container's processes run."""

import os
import pwd
from typing import Final

import msgspec

from probelet.errors import ProbeletError

UID_MAX: Final = 2**31 - 1
"""The API's limit of runAsUser; -1 as 32 bits would mean that the user does not change."""


class UserError(ProbeletError):
    """A text names no user; the message is one line for a person."""


class User(msgspec.Struct, frozen=True):
    """A user with the groups that a login gives."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    """Empty for a number without an entry in the user database."""
    home: str

    def __str__(self) -> str:
        return f"{self.name} (uid {self.uid})" if self.name else f"uid {self.uid}"

    def variables(self) -> dict[bytes, bytes]:
        """The variables that a login sets. Without them a program would look in the home of probelet's own user."""
        name = {b"USER": os.fsencode(self.name)} if self.name else {}
        return {b"HOME": os.fsencode(self.home)} | name


def user_of(uid: int) -> User:
    """The user with a number. One that the machine does not know has the group with its number and the home ``/``."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return User(uid, uid, (uid,), "", "/")
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return User(uid, entry.pw_gid, groups, entry.pw_name, entry.pw_dir)


def find_user(text: str) -> User:
    """The user with a name or a number. Raises UserError."""
    if text.isascii() and text.isdecimal():
        # A text of a thousand digits is no number that Python reads at once.
        uid = int(text[:11])
        if uid > UID_MAX:
            raise UserError(f'"{text}" is no user: a number is at most {UID_MAX}')
        return user_of(uid)
    try:
        return user_of(pwd.getpwnam(text).pw_uid)
    except (KeyError, ValueError):
        raise UserError(f'"{text}" is no user of this machine; want a name or a number') from None
