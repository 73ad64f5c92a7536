"""Access control lists in the kernel's form."""

from __future__ import annotations

from cortex_infra.access import AclEntry, decode_acl, encode_acl

NO_ID = 0xFFFFFFFF


def test_a_list_survives_the_kernels_form_in_the_kernels_order() -> None:
    entries = [
        AclEntry(0x20, NO_ID, 0),
        AclEntry(0x10, NO_ID, 1),
        AclEntry(0x02, 101, 1),
        AclEntry(0x04, NO_ID, 0),
        AclEntry(0x01, NO_ID, 7),
    ]
    encoded = encode_acl(entries)
    assert encoded[:4] == b"\x02\x00\x00\x00"
    assert len(encoded) == 4 + 5 * 8
    assert [entry.tag for entry in decode_acl(encoded)] == [0x01, 0x02, 0x04, 0x10, 0x20]
    assert sorted(decode_acl(encoded)) == sorted(entries)
