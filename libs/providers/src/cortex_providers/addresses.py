"""Which network addresses an outbound connection may go to."""

from __future__ import annotations

import ipaddress
from typing import Final, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA: Final = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "fd00:ec2::254",  # AWS; its IPv4 addresses are link-local
        "fd20:ce::254",  # Google Cloud
        "100.100.100.200",  # Alibaba Cloud
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle Cloud
    )
)
"""Where cloud machines reach their metadata and credentials, as the vendors document it."""
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


def literal(host: str | None) -> Address | None:
    """The address that `host` is, if it is one and no name."""
    try:
        return ipaddress.ip_address(host or "")
    except ValueError:
        return None


def refusal(address: Address) -> str | None:
    """Why no name may lead to `address`; none when one may."""
    address = carried(address)
    if address in METADATA:
        return "a metadata address"
    if address.is_link_local:
        return "a link-local address"
    if address.is_unspecified or address.is_multicast or (address.is_reserved and not address.is_loopback):
        return "an address of no service"
    return None


def reach(address: Address) -> str:
    """How far an address is: `loopback`, `private` or `public`."""
    address = carried(address)
    if address.is_loopback:
        return "loopback"
    return "public" if address.is_global else "private"


def carried(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for; else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
