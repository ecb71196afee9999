"""Digest free text under a key, so that equal texts can be joined and none can be guessed."""

from __future__ import annotations

import hmac
import secrets
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Final

from agent_image.notice import notice

DIGEST_BYTES: Final = 12
KEY_BYTES: Final = 32


class Digest:
    """Digest texts under one key."""

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        """Take the key, or the way to it."""
        self._key: Callable[[], bytes] = (lambda: key) if isinstance(key, bytes) else key

    def of(self, text: str) -> str:
        """Digest a text: 16 characters of base64url."""
        mac = hmac.digest(self._key(), text.encode("utf-8", "replace"), "sha256")
        return urlsafe_b64encode(mac[:DIGEST_BYTES]).decode()


class LateKey:
    """Hold a key that is fetched when the first text comes."""

    def __init__(self, fetch: Callable[[], bytes]) -> None:
        """Take the way to the key."""
        self._fetch = fetch
        self._key: bytes | None = None
        self._instead = new_key()
        self._fetching = False
        self._lock = threading.RLock()

    def __call__(self) -> bytes:
        """Fetch the key, once; where that fails, a key of this process alone joins its own texts and no others'."""
        with self._lock:
            # Fetching logs, and what is logged is digested: those few texts join with nothing.
            if self._key is None and not self._fetching:
                self._fetching = True
                self._key = self._fetched()
            return self._key or self._instead

    def _fetched(self) -> bytes:
        try:
            return self._fetch()
        except Exception as error:  # noqa: BLE001 - no digest is worth an answer
            notice("digest_key_unavailable", exception=type(error).__name__)
            return self._instead


def new_key() -> bytes:
    """Make a key."""
    return secrets.token_bytes(KEY_BYTES)
