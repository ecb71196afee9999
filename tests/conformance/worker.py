"""Write to a store as another process: wait for a line, then do one thing, and say how it ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from agent_image.errors import StoreError
from agent_image.guard.records import Conflict, Records
from agent_image.stores.by_url import records_at
from tests.loopback.table import unpackable


def main() -> None:
    """Take the store's URL, a Region, and the bucket's URL or none; then orders, one JSON line each."""
    store, region, large = sys.argv[1:]
    records = records_at(store, region, large=large or None)
    _say("ready")
    for line in sys.stdin:
        order = json.loads(line)
        match order["do"]:
            case "put":
                _say(_put(records, order))
            case "fill":
                _fill(records, order["key"], order["size"])


def _put(records: Records, order: Mapping[str, Any]) -> str:
    try:
        records.put(order["key"], order["document"], expected=order["expected"])
    except Conflict:
        return "conflict"
    except StoreError as error:
        return error.code
    return "written"


def _fill(records: Records, key: str, size: int) -> None:
    """Write one record for ever, and say each version that stands."""
    found = records.get(key)
    version = 0 if found is None else found.version
    text = unpackable(size)
    while True:
        version += 1
        records.put(key, {"n": version, "text": f"{version}{text}"}, expected=version - 1)
        _say(str(version))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
