"""Write a file whole or not at all: whoever opens it never reads half of it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from console.errors import BadInputError
from console.terminal import shown_line


def write_whole(path: Path, text: str) -> None:
    """Write a text in the place of what lies there; only its owner may read it.

    Raises:
        BadInputError: it cannot be written there. What lay there before is as it was.
    """
    try:
        # Beside its place, so that renaming stays within one file system.
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as error:
        raise _refused(path, error) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()


def _refused(path: Path, error: OSError) -> BadInputError:
    return BadInputError(f"'{shown_line(str(path))}' cannot be written: {error.strerror or error}")
