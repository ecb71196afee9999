"""Generate JSON Schemas of the settings files, so that an editor completes keys and marks faults while one types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stacks.settings.model import Account, Environment
from stacks.settings.record import Record

_FOLDER = Path(__file__).parent


def files() -> dict[Path, str]:
    """Render each schema, by the path of the committed file."""
    models: dict[str, type[Record]] = {"account": Account, "environment": Environment}
    return {
        _FOLDER / f"{name}.schema.json": json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **_plain(model.model_json_schema())},
            indent=2,
            ensure_ascii=False,
        )
        + "\n"
        for name, model in models.items()
    }


def _plain(schema: Any) -> Any:
    """Drop defaults of whole tables, and write numeric defaults as numbers; the generator writes decimals as text."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _plain(value) for key, value in schema.items()}
    default = plain.get("default")
    if isinstance(default, dict) or ("default" in plain and default is None):
        del plain["default"]
    elif isinstance(default, str) and plain.get("type") in {"integer", "number"}:
        plain["default"] = json.loads(default)
    return plain
