"""Processes of their own that book in one ledger."""

from __future__ import annotations

import sys
from pathlib import Path

from agent_image.errors import NoEffect
from agent_image.tools.ledger import Ledger


def main() -> None:
    """Book under one key of all, and under keys of one's own; print what was refused."""
    ledger, name, count = Ledger(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
    for n in range(count):
        for key in ("shared", f"{name}-{n}"):
            try:
                ledger.book("refund", key, 1, "s", order_id="1")
            except NoEffect as error:
                sys.stdout.write(f"{error.code}\n")


if __name__ == "__main__":
    main()
