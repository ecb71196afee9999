"""Write the shop's documents, and do to them what happens to documents."""

from __future__ import annotations

from pathlib import Path
from typing import Final

INTACT: Final = "intact.md"
CHANGED: Final = "changed.md"
DELETED: Final = "deleted.md"
DENIED: Final = "denied.md"

PASSAGES: Final = {
    INTACT: "A refund is paid within fourteen days, in the way in which the order was paid.",
    CHANGED: "A refund of a reduced item is paid as store credit, never in money, whatever the reason.",
    DELETED: "A refund above 500 BRL is looked at by two people before it is paid, on working days only.",
    DENIED: "A refund of a gift goes to the one who gave it, unless the card says something else.",
}
"""What the documents say, each about the one thing that is asked for."""
NEW_WORDS: Final = "A refund of a reduced item is paid in money now, as for every other item."
QUESTION: Final = "How is a refund paid, and to whom?"


def document(name: str) -> str:
    """Give a whole document."""
    return f"# {name.removesuffix('.md').title()}\n\n{PASSAGES[name]}\n"


def changed_document() -> str:
    """Give the document that somebody edited."""
    return f"# Changed\n\n{NEW_WORDS}\n"


def open_shop(folder: Path) -> Path:
    """Write all documents into a folder."""
    folder.mkdir()
    for name in PASSAGES:
        (folder / name).write_text(document(name))
    return folder
