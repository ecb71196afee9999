"""Decide whether a trail may make this machine connect to an address: URIs in it are a stranger's words."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

_Address = IPv4Address | IPv6Address
# Whoever may ask these is whoever runs on this machine: they give away its credentials.
_METADATA: Final = frozenset(
    map(
        ip_address,
        (
            *("169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254"),
            # Those of other clouds that lie elsewhere: a console may run anywhere.
            *("168.63.129.16", "100.100.100.200", "192.0.0.192", "fd20:ce::254"),
        ),
    )
)
_TRANSLATED: Final = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_LOW_32_BITS: Final = 0xFFFF_FFFF


def allowed(text: str, *, private: bool) -> bool:
    """Tell whether to connect to an IP address.

    Args:
        text: the address, perhaps with a zone.
        private: loopback and private networks are allowed too; metadata services, link-local and multicast never are.
    """
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(_allowed(one, private=private) for one in (address, *_within(address)))


def _within(address: _Address) -> tuple[IPv4Address, ...]:
    """Give the older addresses to which a newer one leads."""
    if isinstance(address, IPv4Address):
        return ()
    if _is_translated(address):
        return (IPv4Address(int(address) & _LOW_32_BITS),)
    found = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
    # `::a.b.c.d`, long out of use, which some systems still follow.
    compatible = IPv4Address(int(address)) if int(address) >> 32 == 0 and int(address) > 1 else None
    return tuple(one for one in (*found, compatible) if one is not None)


def _is_translated(address: IPv6Address) -> bool:
    return any(address in network for network in _TRANSLATED)


def _allowed(address: _Address, *, private: bool) -> bool:
    if address in _METADATA or address.is_multicast or address.is_unspecified or address.is_link_local:
        return False
    if isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or _is_translated(address)):
        # It is the older address that counts.
        return True
    # Long out of use, and Python takes them for anybody's; a network that has them keeps them to itself.
    is_of_site = isinstance(address, IPv6Address) and address.is_site_local
    return private or (address.is_global and not address.is_reserved and not is_of_site)
