"""The committed JSON Schemas are current, describe every key, and mark the plain faults while one types."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stacks.settings import schema
from tests.stacks.settings.folder import SHIPPED, SHIPPED_FILES

Json = dict[str, Any]
RENDERED = schema.files()
SCHEMAS: dict[str, Json] = {path.name.partition(".")[0]: json.loads(text) for path, text in RENDERED.items()}


def _kind(file: str) -> str:
    return "account" if file.startswith("accounts/") else "environment"


def _shipped(file: str) -> Json:
    return tomllib.loads((SHIPPED / file).read_text(encoding="utf-8"))


def _marks(kind: str, table: Json) -> list[str]:
    """List the key paths that an editor would mark."""
    validator = jsonschema.Draft202012Validator(SCHEMAS[kind])
    return [error.json_path.removeprefix("$").removeprefix(".") for error in validator.iter_errors(table)]


def _properties(document: Json) -> Iterator[tuple[str, Json]]:
    tables = {"": document, **document["$defs"]}
    for name, table in tables.items():
        for key, value in table.get("properties", {}).items():
            yield f"{name}.{key}".removeprefix("."), value


def _is_described(document: Json, value: Json) -> bool:
    if "description" in value or "const" in value:  # a constant names the branch: the branch is described
        return True
    if "$ref" in value:
        return _is_described(document, document["$defs"][value["$ref"].removeprefix("#/$defs/")])
    branches: list[Json] = value.get("oneOf", []) + value.get("anyOf", [])
    return bool(branches) and all(_is_described(document, branch) for branch in branches)


@pytest.mark.parametrize("path", RENDERED, ids=lambda path: path.name)
def test_the_committed_schema_is_current(path: Path) -> None:
    """The committed schema is what the settings' types give now."""
    assert path.read_text(encoding="utf-8") == RENDERED[path], f"{path.name} is out of date: run `make schema`"


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_schema_is_one_and_describes_every_key(kind: str) -> None:
    """The schema is valid, and each key and each table carries its description."""
    document = SCHEMAS[kind]
    jsonschema.Draft202012Validator.check_schema(document)
    bare = [name for name, value in _properties(document) if not _is_described(document, value)]
    assert bare == [], f"describe these keys in stacks/settings/model.py: {bare}"
    assert [name for name, table in document["$defs"].items() if not table.get("description")] == []


@pytest.mark.parametrize("file", SHIPPED_FILES)
def test_a_shipped_file_fits_its_schema_and_names_it(file: str) -> None:
    """Each shipped file validates, and its first line points the editor at the schema."""
    first = (SHIPPED / file).read_text(encoding="utf-8").splitlines()[0]
    named = (SHIPPED / file).parent / first.removeprefix("#:schema ")
    assert named.resolve() in RENDERED
    assert named.name == f"{_kind(file)}.schema.json"
    assert _marks(_kind(file), _shipped(file)) == []


FAULTS: tuple[tuple[str, str, Any, str], ...] = (
    ("dev.toml", "observability.retention_days", 31, "observability.retention_days"),
    ("dev.toml", "observability.retention_day", 7, "observability"),
    ("dev.toml", "onwer", "x", ""),
    ("dev.toml", "agent.name", "hand-book", "agent.name"),
    ("dev.toml", "agent.image", "sha256:00", "agent.image"),
    ("dev.toml", "agent.live_version", 0, "agent.live_version"),
    ("dev.toml", "agent.top_k", 101, "agent.top_k"),
    ("dev.toml", "agent.artifact", "zip", "agent.artifact"),
    ("dev.toml", "agent.bundle", "null", "agent.bundle"),
    ("dev.toml", "observability.destination", "http://otel.example.com", "observability.destination"),
    ("dev.toml", "observability.kept_sessions", 2, "observability.kept_sessions"),
    ("dev.toml", "owner", "São Paulo", "owner"),
    ("dev.toml", "observability.masking.identifiers", ["CpfCod-BR"], "observability.masking.identifiers[0]"),
    ("dev.toml", "observability.indexed_fields", [f"f{n}" for n in range(21)], "observability.indexed_fields"),
    ("dev.toml", "guard.budget_usd", "0.50", "guard.budget_usd"),
    ("dev.toml", "guard.webhook", "http://chat.example.com", "guard.webhook"),
    ("dev.toml", "guard.approval_minutes_by_zone", {"blue": 1}, "guard.approval_minutes_by_zone"),
    ("dev.toml", "guard.tools", {"refund_order": {"zone": "blue"}}, "guard.tools.refund_order.zone"),
    ("dev.toml", "guard.prices", {"m": {"input": 1, "output": 2, "source": "s"}}, "guard.prices.m"),
    ("dev.toml", "hooks", {"agent": "../hooks.yaml"}, "hooks.agent"),
    ("dev.toml", "hooks", {"models": {"fast": "gpt"}}, "hooks.models.fast"),
    ("accounts/sandbox.toml", "indexing_percentage", 101, "indexing_percentage"),
    ("accounts/sandbox.toml", "indexing_percentage", -1, "indexing_percentage"),
    ("accounts/sandbox.toml", "account_id", "1111", "account_id"),
)


@pytest.mark.parametrize(("file", "path", "value", "mark"), FAULTS, ids=[f"{row[1]} = {row[2]}"[:50] for row in FAULTS])
def test_the_schema_marks_what_loading_refuses(file: str, path: str, value: object, mark: str) -> None:
    """A plain fault is marked at its key, an unknown key at its table."""
    table = _shipped(file)
    *tables, key = path.split(".")
    spot = table
    for name in tables:
        spot = spot[name]
    spot[key] = value
    assert _marks(_kind(file), table) == [mark]


@pytest.mark.parametrize("path", ["observability.retention_days", "agent.models", "account"])
def test_the_schema_marks_a_missing_key(path: str) -> None:
    """A required key that is left out is marked at its table."""
    table = _shipped("dev.toml")
    *tables, key = path.split(".")
    spot = table
    for name in tables:
        spot = spot[name]
    del spot[key]
    assert _marks("environment", table) == [".".join(tables)]
