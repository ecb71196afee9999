"""Write a file whole or not at all, and say to people where that cannot be done."""

from __future__ import annotations

from pathlib import Path

from console.errors import BadInputError
from console.terminal import shown_line
from cost_model import whole_file


def write_whole(path: Path, text: str) -> None:
    """Write a text in the place of what lies there; only its owner may read it.

    Raises:
        BadInputError: it cannot be written there. What lay there before is as it was.
    """
    try:
        whole_file.write_whole(path, text)
    except OSError as error:
        message = f"'{shown_line(str(path))}' cannot be written: {error.strerror or error}"
        raise BadInputError(message) from None
