"""Search permission for one user on the folders above a path, through POSIX access control lists.

PostgreSQL refuses to run as root and is started as another user, while its data may lie below a folder only root can
enter (`/root`). One `user:<id>:--x` entry lets exactly that user pass through, and shows nobody anything.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cortex_infra.errors import ServerError

_ATTRIBUTE: Final = "system.posix_acl_access"
_VERSION: Final = 2
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_SEARCH: Final = 0x1
_NO_ID: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, order=True)
class AclEntry:
    """One entry as the kernel stores it: tag, id (of users and groups), permission bits."""

    tag: int
    id: int
    permissions: int


def grant_search(path: Path, user: str) -> list[Path]:
    """Let `user` enter every folder above `path`; returns the folders that were changed.

    Raises:
        ServerError: a folder's file system has no access control lists; the message names it.
    """
    account = pwd.getpwnam(user)
    changed = []
    for folder in reversed(path.resolve().parents):
        if _may_search(folder, account):
            continue
        try:
            _add_search(folder, account.pw_uid)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EROFS):
                raise
            raise ServerError(
                f"user {user} cannot enter {folder}, which it must to run PostgreSQL for root, and the folder takes no "
                f"access control entry ({error.strerror}): set CORTEX_HOME to a folder that {user} can reach, for "
                "example /var/lib/cortex"
            ) from error
        changed.append(folder)
    return changed


def _may_search(folder: Path, account: pwd.struct_passwd) -> bool:
    found = folder.stat()
    if found.st_uid == account.pw_uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_mode & stat.S_IXOTH:
        return True
    entries = read_acl(folder)
    given = {entry.permissions for entry in entries if (entry.tag, entry.id) == (_USER, account.pw_uid)}
    mask = next((entry.permissions for entry in entries if entry.tag == _MASK), 0)
    return any(permissions & mask & _SEARCH for permissions in given)


def _add_search(folder: Path, uid: int) -> None:
    entries = [entry for entry in read_acl(folder) if (entry.tag, entry.id) != (_USER, uid) and entry.tag != _MASK]
    entries.append(AclEntry(_USER, uid, _SEARCH))
    granted = 0
    for entry in entries:
        if entry.tag in (_USER, _GROUP_OBJ, _GROUP):
            granted |= entry.permissions
    entries.append(AclEntry(_MASK, _NO_ID, granted))
    os.setxattr(folder, _ATTRIBUTE, encode_acl(entries))


def read_acl(folder: Path) -> list[AclEntry]:
    """The access control list of `folder`; without one, what its mode means."""
    try:
        return decode_acl(os.getxattr(folder, _ATTRIBUTE))
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
    mode = folder.stat().st_mode
    return [
        AclEntry(_USER_OBJ, _NO_ID, mode >> 6 & 7),
        AclEntry(_GROUP_OBJ, _NO_ID, mode >> 3 & 7),
        AclEntry(_OTHER, _NO_ID, mode & 7),
    ]


def encode_acl(entries: list[AclEntry]) -> bytes:
    """The kernel's form of a list: a version, then entries ordered by tag and id."""
    body = b"".join(struct.pack("<HHI", entry.tag, entry.permissions, entry.id) for entry in sorted(entries))
    return struct.pack("<I", _VERSION) + body


def decode_acl(value: bytes) -> list[AclEntry]:
    """The entries of a list in the kernel's form."""
    return [AclEntry(tag, id_, permissions) for tag, permissions, id_ in struct.iter_unpack("<HHI", value[4:])]
