"""Make words that occur nowhere else, and find them again in any byte, whatever encoded, escaped or cut them."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

_LETTERS = "bcdfghjklmnpqrstvwxz"
_HALF = 10


@dataclass(frozen=True)
class Marker:
    """Name a place where content stands, and the words that stand there alone.

    The words have letters beyond ASCII, because whatever carries them may escape those. Each of their two halves is
    plain ASCII and found by itself: a text cut in two does not get away.
    """

    place: str

    @property
    def halves(self) -> tuple[str, str]:
        digest = sha256(self.place.encode()).digest()
        letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[: 2 * _HALF])
        return letters[:_HALF], letters[_HALF:]

    def __str__(self) -> str:
        """Give the words."""
        first, second = self.halves
        return f"canário {first}ção{second} à vista"

    @cached_property
    def needles(self) -> tuple[tuple[bytes, ...], ...]:
        """Give what to look for: for each half, every form that it may have."""
        return tuple(tuple(dict.fromkeys(_forms(half))) for half in self.halves)

    def count(self, data: bytes) -> int:
        """Count how often the words, or half of them, occur."""
        return max(sum(data.count(needle) for needle in half) for half in self.needles)


@dataclass(frozen=True)
class Secret(Marker):
    """Name a place where somebody's address stands, which is to be taken out wherever a text is kept."""

    def __str__(self) -> str:
        """Give the address."""
        return f"{'.'.join(self.halves)}@canario.com.br"


@dataclass(frozen=True)
class Words:
    """Name a place where words stand with an address behind them, as people and models write."""

    place: str

    @property
    def marker(self) -> Marker:
        return Marker(self.place)

    @property
    def secret(self) -> Secret:
        return Secret(f"{self.place}: address")

    @property
    def both(self) -> tuple[Marker, Secret]:
        return self.marker, self.secret

    def __str__(self) -> str:
        """Give the words."""
        return f"{self.marker} <{self.secret}>"


def _forms(half: str) -> Iterator[bytes]:
    data = half.encode()
    yield data
    yield data.upper()
    yield data.hex().encode()
    yield b"\0".join(bytes([byte]) for byte in data)  # UTF-16, either way round
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in half)
    yield from (escaped.encode(), escaped.replace("\\", "\\\\").encode())
    yield "".join(f"%{ord(letter):02X}" for letter in half).encode()
    for encode in (b64encode, urlsafe_b64encode):
        for shift in range(3):
            # What stands before and behind shares its first and last characters with the half: these are left out.
            first, last = -(-8 * shift // 6), 8 * (shift + len(data)) // 6
            yield encode(bytes(shift) + data)[first:last]
