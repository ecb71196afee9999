"""Keep passages in a folder: one file for each text, an empty file for an erased one."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from agent_image.retrieval.failure import Failure
from agent_image.retrieval.store import State, refusal


class FolderPassageStore:
    """Hold passages in a folder that processes share; it is made when the first text comes."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        self._folder = folder

    def known(self, fingerprints: Collection[str]) -> Mapping[str, State]:
        """Tell which are stored or erased."""
        with _told():
            found = {fingerprint: self._state(fingerprint) for fingerprint in fingerprints}
        return {fingerprint: state for fingerprint, state in found.items() if state is not None}

    def put(self, fingerprint: str, data: bytes) -> None:
        """Store a text unless its place is taken."""
        # A link, unlike a rename, does not replace what is there.
        with _told(), self._written(data) as file, suppress(FileExistsError):
            (self._folder / fingerprint).hardlink_to(file)

    def get(self, fingerprint: str) -> bytes | None:
        """Give a text."""
        with _told(), suppress(FileNotFoundError):
            return (self._folder / fingerprint).read_bytes() or None
        return None

    def erase(self, fingerprint: str) -> None:
        """Put an empty file in the place of a text."""
        with _told(), self._written(b"") as file:
            file.replace(self._folder / fingerprint)

    def _state(self, fingerprint: str) -> State | None:
        try:
            size = (self._folder / fingerprint).stat().st_size
        except FileNotFoundError:
            return None
        return State.KNOWN if size else State.ERASED

    @contextmanager
    def _written(self, data: bytes) -> Iterator[Path]:
        """Write a file whole, under a name that nobody reads."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                # A machine that stops must not leave an empty file under the fingerprint: it would mean "erased".
                os.fsync(file.fileno())
                yield Path(file.name)
            finally:
                Path(file.name).unlink(missing_ok=True)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except PermissionError:
        raise refusal(Failure.ACCESS_DENIED) from None
    except OSError:
        raise refusal(Failure.UNAVAILABLE) from None
